// Items as tiles that are ticked or not.
import { colourOf, h } from "./dom.js";

export default function tiles(page) {
  const { state } = page;

  /** Build a tile for each item, {item, line, ticked, label, skipped}; changed() after each click. */
  function buildTiles(items, changed, keys = []) {
    return items.map((each, i) => {
      const word = each.label ?? (each.skipped ? "skipped" : "");
      const content = page.thumbnail(each.item) ?? h("span", { class: "line" }, each.line);
      const place = state.classes.findIndex((one) => one.name === each.label);
      const sign = h("span", { class: "mark given" }, word);
      if (place >= 0) sign.style.setProperty("--class", colourOf(place));
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
