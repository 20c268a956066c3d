// What eslint holds the page's modules and their tests to.
const browser = ["AbortController", "Blob", "CSS", "EventSource", "ResizeObserver", "URL", "URLSearchParams", "clearTimeout", "crypto", "devicePixelRatio", "document", "fetch", "getComputedStyle", "localStorage", "location", "matchMedia", "performance", "requestAnimationFrame", "setTimeout"];
const node = ["setImmediate"];

export default [
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: Object.fromEntries([...browser, ...node].map((name) => [name, "readonly"])) },
    rules: {
      "no-undef": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "prefer-const": "error",
      "no-var": "error",
      eqeqeq: "error",
      "no-shadow": ["error", { allow: ["classes", "history", "keys"] }],
      "no-unreachable": "error",
      "no-dupe-keys": "error",
      "no-fallthrough": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-restricted-properties": ["error", { property: "innerHTML", message: "Strings become text, never markup." }, { property: "outerHTML", message: "Strings become text, never markup." }, { property: "insertAdjacentHTML", message: "Strings become text, never markup." }],
    },
  },
];
