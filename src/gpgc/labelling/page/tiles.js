// Items as tiles that are ticked or not.
import { h } from "./dom.js";

/** @type {import("./types").Part} */
export default function tiles(page) {
  /** Build a tile for each item, {item, line, ticked, label, skipped}; changed() after each click. */
  function buildTiles(items, changed, keys = []) {
    return items.map((each, i) => {
      const word = each.label ?? (each.skipped ? "skipped" : "");
      const content = page.thumbnail(each.item) ?? h("span", { class: "line" }, each.line);
      const sign = page.tint(h("span", { class: "mark given" }, word), each.label);
      const toggle = () => {
        each.ticked = !each.ticked;
        tile.setAttribute("aria-pressed", String(each.ticked));
        changed();
      };
      const key = keys[i] ? h("kbd", {}, keys[i]) : null;
      const tile = h("button", { type: "button", class: "tile", "aria-pressed": String(each.ticked), "aria-label": `${each.line} ${word}`.trim(), "data-tile": keys[i], onclick: toggle }, key, content, word ? sign : null);
      return tile;
    });
  }

  return { buildTiles };
}
