// A key or a click becomes an event.

const QUIET = 150; // milliseconds in which a key is not meant for a new item

/** @param {import("./types").Page} page @returns {Partial<import("./types").Page>} */
export default function decisions(page) {
  const { state } = page;

  /** Take no key for a moment: it was meant for what was there before. */
  function holdKeys() {
    state.shownAt = performance.now();
    page.parts.itemBox.dataset.shown = String(state.shownAt);
  }

  const isEarly = () => performance.now() - state.shownAt < QUIET;

  function decide(label) {
    const item = state.visiting ?? state.desk[0];
    if (!item || isEarly()) return;
    const seconds = (performance.now() - state.shownAt) / 1000;
    page.post({ do: "label", item: item.item, label, was: item.label ?? null, seconds, shows: state.shows, chosen: Boolean(state.visiting) });
    page.say(`${label}, item ${item.id}`);
    forward(item);
  }

  function skip(note) {
    const item = state.visiting ?? state.desk[0];
    if (!item || isEarly()) return;
    page.post({ do: "skip", item: item.item, was: item.label ?? null, note, chosen: Boolean(state.visiting) });
    forward(item);
  }

  function forward(item) {
    state.prepared.delete(item.item);
    state.desk = state.desk.filter((each) => each.item !== item.item);
    if (state.visiting) page.forwardInQueue();
    else page.show();
  }

  return { holdKeys, decide, skip };
}
