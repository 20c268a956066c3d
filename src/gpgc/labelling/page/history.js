// What was decided, and the way back through it.
import { count, h, refill } from "./dom.js";

/** @type {import("./types").Part} */
export default function history(page) {
  const { ask, state } = page;
  const { history, undoButton, redoButton } = page.parts;

  async function showHistory() {
    const answer = await ask("history");
    if (!answer.ok) return;
    state.entries = answer.body.entries;
    undoButton.disabled = !answer.body.can_undo;
    redoButton.disabled = !answer.body.can_redo;
    refill(
      history,
      ...state.entries.slice(0, 20).map((entry) => {
        const before = entry.before.map((each) => `${each.label ?? "skipped"}${each.by && each.by !== entry.by ? ` by ${each.by}` : ""}`).join(", ");
        const who = answer.body.people > 1 && entry.by ? h("span", { class: "muted" }, entry.by) : null;
        const mark = page.tint(h("span", { class: "mark given" }, entry.do === "skip" ? "skipped" : entry.label), entry.label);
        return h("li", {}, h("button", { type: "button", onclick: () => page.visit(entry.item) }, page.thumbnail(entry.item), h("span", { class: "line" }, entry.items > 1 ? `${count(entry.items, "item")} at once` : entry.line), before ? h("s", { title: `before: ${before}` }, before) : null, who, mark));
      }),
    );
    if (!state.entries.length) history.append(h("li", { class: "muted" }, "Nothing is decided yet."));
    history.dataset.count = answer.body.count;
    if (answer.body.people > 1) page.soon("people", page.showPeople, 500);
  }

  function walk(step) {
    const place = Math.min(state.place + step, state.entries.length - 1);
    if (place < 0) return page.leave();
    state.place = place;
    page.visit(state.entries[place].item);
  }

  return { showHistory, walk };
}
