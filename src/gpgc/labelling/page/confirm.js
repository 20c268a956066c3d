// A group of items that the model is sure of: looked over, confirmed by Enter, then the next group.
import { button, colourOf, count, h } from "./dom.js";

const KEYS = [..."1234567890abcdefghijklmn"];
const PATIENCE = 5000; // milliseconds that the next group waits for the last one to be saved

export default function confirm(page) {
  const { ask, state } = page;
  const { dialog } = page.parts;

  let group = null;

  async function openConfirm() {
    const answer = await ask("sure");
    if (!answer.ok) return page.warn(answer.body.problem);
    group = { ...answer.body, items: answer.body.items.map((each) => ({ ...each, ticked: true })) };
    if (dialog.open) dialog.close();
    if (!group.items.length) {
      const text = state.phase === "labelling" ? "The model is sure of no further item by now: 90 % or more. Label some one by one, then look again." : "A closing audit is answered one by one.";
      page.openDialog("No group to confirm", h("p", {}, text));
      return;
    }
    const ticked = () => group.items.filter((each) => each.ticked);
    const accept = button("", acceptGroup, { class: "strong class", id: "accept" });
    const tell = () => {
      const n = ticked().length;
      accept.replaceChildren(h("kbd", {}, "Enter"), n ? ` ${count(n, "item")}: ${group.label}` : " None of them");
    };
    const name = h("b", { class: "mark given" }, group.label);
    name.style.setProperty("--class", colourOf(state.classes.findIndex((each) => each.name === group.label)));
    page.openDialog(
      `All ${group.label}?`,
      h("p", {}, "The model is sure that these are ", name, ". Click, or press its key, to reject one; it is asked later. Group answers never count in the estimate. ", h("span", { class: "muted" }, `${count(group.sure, "item")} sure by now.`)),
      h("div", { class: "tiles" }, page.buildTiles(group.items, tell, KEYS)),
      h("div", { class: "classes" }, accept),
    );
    tell();
    dialog.dataset.kind = "confirm";
    accept.focus();
  }

  async function acceptGroup() {
    const { items, label } = group;
    const nodes = (wanted) => items.filter((each) => each.ticked === wanted).map((each) => each.item);
    dialog.close();
    page.post({ do: "confirm", items: nodes(true), declined: nodes(false), label });
    page.say(`${label}, ${count(nodes(true).length, "item")}`);
    const start = performance.now();
    while (state.outbox.length && performance.now() - start < PATIENCE) await new Promise((resolve) => setTimeout(resolve, 20));
    if (!state.outbox.length && !dialog.open) openConfirm();
  }

  /** Reject or take back the tile of a key. */
  const pressTile = (key) => dialog.querySelector(`[data-tile="${key}"]`)?.click();

  return { openConfirm, acceptGroup, pressTile, isTile: (key) => KEYS.includes(key) };
}
