// Which key means what.

/** @type {import("./types").Part} */
export default function keys(page) {
  const { map, model, state } = page;
  const { root, canvas, dialog } = page.parts;

  let inNotebook = false;

  function press(event) {
    if (inNotebook) event.stopPropagation(); // no key inside is meant for the notebook
    if (event.repeat || event.altKey) return;
    const action = dialog.open ? meantInDialog(event) : meant(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  /** The key of a command: its letter, with Shift where a class has that letter. */
  const keyOf = (key) => (/^[a-z]$/.test(key) && state.classes.some((each) => each.key === key) ? `Shift + ${key.toUpperCase()}` : key);

  function classOf({ code, key, shiftKey }) {
    const digit = /^Digit(\d)$/.exec(code)?.[1] ?? (/^\d$/.test(key) ? key : null);
    const wanted = digit ? (shiftKey ? `⇧${digit}` : digit) : shiftKey ? key : key.toLowerCase();
    return { digit, found: state.classes.find((each) => each.key === wanted) };
  }

  function meantInDialog(event) {
    // all other fields to type in are in dialogs too
    if (event.ctrlKey || event.metaKey) return null;
    if (dialog.dataset.kind === "confirm") {
      const key = event.key.toLowerCase();
      if (key === "enter" && !event.target.matches?.("[aria-label=Close]")) return page.acceptGroup;
      return page.isTile(key) && !event.shiftKey ? () => page.pressTile(key) : null;
    }
    if (dialog.dataset.kind === "review") {
      if (event.key === "Enter" && !event.target.matches?.("[aria-label=Close]")) return page.keepIt;
      if (event.key === " ") return page.changeIt;
      const { found } = classOf(event);
      return found && (() => page.labelIt(found.name));
    }
    if (dialog.dataset.kind !== "group") return null;
    const { found } = classOf(event);
    return found && (() => page.labelGroup(found.name));
  }

  function meant(event) {
    const { key, shiftKey, target } = event;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !shiftKey) return () => page.post({ do: "undo" });
      if (key === "y" || (key.toLowerCase() === "z" && shiftKey)) return () => page.post({ do: "redo" });
      return null;
    }
    if (target === canvas && map.works) {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
      if (step) return () => map.mark(map.towards(...step) ?? map.current);
      if (key === "Enter" && map.current !== null) return () => page.visit(map.current);
    }
    const { digit, found } = classOf(event);
    if (found) return () => page.decide(found.name);
    if (digit) return null;
    const isFree = !target.closest?.("button, input, a, summary, canvas") || target.closest(".classes, .suggestion");
    if (key === "Enter" && isFree && state.settings?.source) return page.acceptSuggestion;
    const letters = {
      n: page.openClass,
      s: () => page.skip(),
      u: () => page.skip("unsure"),
      p: page.togglePrediction,
      m: () => canvas.focus(),
      b: page.openGroup,
      c: page.openConfirm,
      r: page.openReview,
      e: page.openClasses,
      f: page.openFind,
      g: page.toggleGuide,
      j: page.scrollDown,
      k: page.scrollUp,
    };
    const letter = key.toLowerCase();
    if (letters[letter] && shiftKey === keyOf(letter).startsWith("Shift")) return letters[letter];
    return {
      Backspace: () => page.post({ do: "undo" }),
      "/": page.openSearch,
      "?": page.openHelp,
      F: page.openFinish,
      PageDown: page.scrollDown,
      PageUp: page.scrollUp,
      ArrowLeft: () => page.walk(1),
      ArrowRight: () => page.walk(-1),
      Escape: state.visiting ? page.leave : () => {
        page.clearGroup();
        page.enlarge(false);
      },
    }[key];
  }

  /** Listen; returns how to stop. */
  function listenToKeys() {
    const keys = model.get("keys") ?? root;
    inNotebook = keys === root;
    keys.addEventListener("keydown", press);
    if (inNotebook) {
      root.tabIndex = 0;
      for (const kind of ["keyup", "keypress"]) root.addEventListener(kind, (event) => event.stopPropagation());
      root.addEventListener("pointerup", (event) => event.target.closest("button, input, a, canvas") || root.focus());
    }
    return () => keys.removeEventListener("keydown", press);
  }

  /** Have the focus inside, where it would leave a notebook's widget. */
  function regainFocus() {
    if (inNotebook && !root.contains(root.getRootNode().activeElement)) root.focus({ preventScroll: true });
  }

  return { listenToKeys, keyOf, regainFocus };
}
