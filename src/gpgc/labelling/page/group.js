// One label for many items: drawn around on the map, looked at as a grid, labelled by one key.
import { count, h } from "./dom.js";

/** @type {import("./types").Part} */
export default function group(page) {
  const { ask, map, state } = page;
  const { dialog, groupButton, lassoButton, mapNote } = page.parts;

  const ticked = () => state.group.filter((each) => each.ticked);

  function tell(text) {
    mapNote.textContent = text;
    page.say(text);
  }

  /** Look at what was drawn around; what has an answer is left out unless it is ticked. */
  async function select(nodes) {
    drawLasso(false);
    clearGroup();
    const most = state.settings.limits.bulk;
    if (nodes.length > most) return tell(`${count(nodes.length, "item")} in the lasso; at most ${most} get a label at once. Draw a smaller one.`);
    const answer = await ask("group", { items: nodes.join(",") });
    if (!answer.ok) return page.warn(answer.body.problem);
    state.group = answer.body.items.map((each) => ({ ...each, ticked: !each.label && !each.skipped }));
    const left = answer.body.left_out ? `; ${answer.body.left_out} more are asked one by one` : "";
    tell(`${count(state.group.length, "item")} in the lasso, ${ticked().length} without an answer${left}`);
    mark();
  }

  function mark() {
    map.select(ticked().map((each) => each.item));
    groupButton.hidden = !state.group.length;
    groupButton.replaceChildren(h("kbd", {}, page.keyOf("b")), ` Label ${count(ticked().length, "item")}`);
  }

  function clearGroup() {
    if (state.group.length) mapNote.textContent = page.mapHelp;
    state.group = [];
    map.select([]);
    groupButton.hidden = true;
  }

  /** Make the next drag on the map a lasso, for fingers and for those without a Shift key. */
  function drawLasso(wanted = !map.lassoing) {
    map.lassoing = wanted;
    lassoButton.setAttribute("aria-pressed", String(wanted));
  }

  function openGroup() {
    if (!state.group.length) return tell("No items in the lasso; draw one on the map with Select, or with Shift + drag.");
    const title = () => `Label ${count(ticked().length, "item")}`;
    const tiles = page.buildTiles(state.group, () => {
      dialog.querySelector("h2").textContent = title();
      mark();
    });
    const answered = state.group.some((each) => each.label || each.skipped);
    page.openDialog(
      "group",
      title(),
      h("p", {}, "Click to leave one out. They count as chosen by you, not as random; one undo takes all back.", answered ? " Items with an answer change only where you tick them." : ""),
      h("div", { class: "tiles" }, tiles),
      h("div", { class: "classes" }, state.classes.map((each) => page.buildChip(each, () => labelGroup(each.name)))),
    );
  }

  function labelGroup(label) {
    const chosen = ticked();
    if (!chosen.length) return page.say("No item is ticked.");
    const nodes = (list) => list.map((each) => each.item);
    const has = (each) => Boolean(each.label || each.skipped);
    dialog.close();
    page.post({ do: "bulk", items: nodes(chosen.filter((each) => !has(each))), named: nodes(chosen.filter(has)), label });
    page.say(`${label}, ${count(chosen.length, "item")}`);
    clearGroup();
  }

  return { select, clearGroup, drawLasso, openGroup, labelGroup };
}
