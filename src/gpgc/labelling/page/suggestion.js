// What a source from outside suggests for the item in sight: a guess, which Enter accepts.
import { button, h, percent } from "./dom.js";

/** @type {import("./types").Part} */
export default function suggestion(page) {
  const { state } = page;
  const { suggestionBox } = page.parts;

  function showSuggestion(item) {
    suggestionBox.hidden = !state.settings?.source;
    const [label, score] = item?.suggestion ?? [];
    if (!label) return suggestionBox.replaceChildren(h("span", { class: "muted" }, item ? "no suggestion for this item" : ""));
    const accept = button("", acceptSuggestion, { class: "class", id: "suggestion" });
    accept.append(h("kbd", {}, "Enter"), ` ${label}`);
    const sure = score === null || score === undefined ? "" : `, ${percent(score)} %`;
    suggestionBox.replaceChildren(h("span", { class: "muted" }, `${state.settings.source} suggests${sure}`), page.tint(accept, label));
  }

  function acceptSuggestion() {
    const item = state.visiting ?? state.desk[0];
    if (item?.suggestion) page.decide(item.suggestion[0]);
  }

  return { showSuggestion, acceptSuggestion };
}
