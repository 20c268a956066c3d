// A group of items that the model is sure of: looked over, confirmed by Enter, then the next group.
import { button, count, h } from "./dom.js";

const KEYS = [..."1234567890abcdefghijklmn"];

/** @type {import("./types").Part} */
export default function confirm(page) {
  const { ask, state } = page;
  const { dialog } = page.parts;

  let group = null;

  async function openConfirm() {
    const answer = await ask("sure");
    if (!answer.ok) return page.warn(answer.body.problem);
    const mine = group = { ...answer.body, items: answer.body.items.map((each) => ({ ...each, ticked: true })) };
    if (dialog.open) dialog.close();
    if (!group.items.length) {
      const text = state.phase === "labelling" ? "The model is sure of no further item: 90 % or more. Label some one by one, then look again." : "A closing audit is answered one by one.";
      return page.openDialog("no-group", "No group to confirm", h("p", {}, text));
    }
    const ticked = () => group.items.filter((each) => each.ticked);
    const accept = button("", acceptGroup, { class: "strong class", id: "accept" });
    const tell = () => {
      const n = ticked().length;
      accept.replaceChildren(h("kbd", {}, "Enter"), n ? ` ${count(n, "item")}: ${group.label}` : " None of them");
    };
    const name = page.tint(h("b", { class: "mark given" }, group.label), group.label);
    page.openDialog(
      "confirm",
      `All ${group.label}?`,
      h("p", {}, "The model is sure that these are ", name, ". Click, or press its key, to reject one; it is asked later. Group answers never count in the estimate. ", h("span", { class: "muted" }, `${count(group.sure, "item")} sure.`)),
      h("div", { class: "tiles" }, page.buildTiles(group.items, tell, KEYS)),
      h("div", { class: "classes" }, accept),
    );
    tell();
    accept.ariaDisabled = "true"; // nothing unseen is confirmed
    accept.focus();
    await Promise.all([...dialog.querySelectorAll(".tile img")].map((image) => new Promise((done) => {
      image.loading = "eager";
      image.onload = image.onerror = done;
    })));
    accept.ariaDisabled = null;
    mine.seen = true;
  }

  /** Look again where there was nothing to confirm. */
  function retryConfirm() {
    if (dialog.open && dialog.dataset.kind === "no-group") openConfirm();
  }

  async function acceptGroup() {
    if (!group.seen) return;
    const { items, label } = group;
    const nodes = (wanted) => items.filter((each) => each.ticked === wanted).map((each) => each.item);
    dialog.close();
    page.post({ do: "confirm", items: nodes(true), declined: nodes(false), label });
    page.say(`${label}, ${count(nodes(true).length, "item")}`);
    if ((await page.whenSaved()) && !dialog.open) openConfirm();
  }

  const pressTile = (key) => dialog.querySelector(`[data-tile="${key}"]`)?.click();

  return { openConfirm, retryConfirm, acceptGroup, pressTile, isTile: (key) => KEYS.includes(key) };
}
