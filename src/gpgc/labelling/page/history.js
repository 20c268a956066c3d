// What was decided, and the way back through it.
import { colourOf, count, h, refill } from "./dom.js";

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
        const place = state.classes.findIndex((each) => each.name === entry.label);
        const mark = h("span", { class: "mark given" }, entry.do === "skip" ? "skipped" : entry.label);
        if (place >= 0) mark.style.setProperty("--class", colourOf(place));
        return h("li", {}, h("button", { type: "button", onclick: () => page.visit(entry.item) }, page.thumbnail(entry.item), h("span", { class: "line" }, entry.items > 1 ? `${count(entry.items, "item")} at once` : entry.line), mark));
      }),
    );
    if (!state.entries.length) history.append(h("li", { class: "muted" }, "Nothing is decided yet."));
    history.dataset.count = answer.body.count;
  }

  function walk(step) {
    const place = Math.min(state.place + step, state.entries.length - 1);
    if (place < 0) return page.leave();
    state.place = place;
    page.visit(state.entries[place].item);
  }

  return { showHistory, walk };
}
