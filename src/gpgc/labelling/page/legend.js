// What the colours of the map mean, what stands out on it, and what is under the pointer.
import { button, colourOf, h } from "./dom.js";

const DOUBT = 0.6 * 254; // certainty below which the model doubts, as the map has it

/** @type {import("./types").Part} */
export default function legend(page) {
  const { ask, map, state } = page;
  const { legendBox, mapTip, mapBox } = page.parts;

  let wanted = null; // the name of what stands out
  let people = {};

  const code = (node) => map.said[2 * node];
  const certainty = (node) => map.said[2 * node + 1];
  const isGiven = (node) => certainty(node) === 255;

  /** Filters by name: whether a node stands out. */
  function filters() {
    /** @type {{name: string, each?: import("./types").Klass, shows: (node: number) => boolean}[]} */
    const found = state.classes.map((each) => ({ name: each.name, each, shows: (node) => code(node) === each.place }));
    found.push({ name: "unlabelled", shows: (node) => !isGiven(node) });
    found.push({ name: "in doubt", shows: (node) => !isGiven(node) && code(node) < 255 && certainty(node) < DOUBT });
    if (Object.keys(people).length > 1) {
      for (const [who, nodes] of Object.entries(people)) {
        const mine = new Set(nodes);
        found.push({ name: `by ${who || "nobody named"}`, shows: (node) => mine.has(node) });
      }
    }
    return found;
  }

  /** Count and offer what may stand out, after new colours or classes. */
  function showLegend() {
    if (!map.works || !map.said || map.said.length !== 2 * map.count) return;
    const all = filters();
    const counts = all.map(() => 0);
    all.forEach(({ shows }, i) => {
      for (let node = 0; node < map.count; node++) counts[i] += Number(shows(node));
    });
    const chips = all.map(({ name, each }, i) => {
      const dot = each ? h("span", { class: "dot" }) : null;
      if (each) dot.style.background = colourOf(each);
      const press = () => standOut(wanted === name ? null : name);
      return h("button", { type: "button", class: "quiet legend-entry", "aria-pressed": String(wanted === name), "data-filter": name, onclick: press }, dot, h("span", { class: "class-name" }, name), h("span", { class: "count" }, counts[i].toLocaleString("en")));
    });
    const focused = document.activeElement?.getAttribute("data-filter");
    legendBox.replaceChildren(...chips);
    if (focused) legendBox.querySelector(`[data-filter="${CSS.escape(focused)}"]`)?.focus();
    const chosen = all.find(({ name }) => name === wanted);
    map.filter(chosen?.shows);
  }

  function standOut(name) {
    wanted = name;
    showLegend();
  }

  async function showPeople() {
    const answer = await ask("people");
    if (answer.ok) people = answer.body;
    showLegend();
  }

  let asked = null;
  let timer = 0;
  /** Show what lies under the pointer. */
  function hover(node, x, y) {
    if (node === asked) return;
    asked = node;
    clearTimeout(timer);
    mapTip.hidden = true;
    if (node === null) return;
    timer = setTimeout(async () => {
      const answer = await ask("brief", { item: node });
      if (!answer.ok || asked !== node) return;
      mapTip.replaceChildren(page.thumbnail(node) ?? "", h("span", {}, answer.body.line));
      const { clientWidth: width, clientHeight: height } = map.canvas;
      mapTip.style.left = `${Math.min(Math.max(x + 12, 4), Math.max(4, width - 230))}px`;
      mapTip.style.top = `${Math.min(Math.max(y - 60, 4), Math.max(4, height - 100))}px`;
      mapTip.hidden = false;
    }, 80);
  }

  function resetMap() {
    map.reset();
    standOut(null);
  }

  function enlarge(wish = !mapBox.classList.contains("large")) {
    mapBox.classList.toggle("large", wish);
    mapBox.querySelector("#large").setAttribute("aria-pressed", String(wish));
    map.draw();
  }

  const mapButtons = [
    button("Reset", resetMap, { id: "reset" }),
    button("Large", () => enlarge(), { id: "large", "aria-pressed": "false" }),
  ];
  page.parts.mapTools.append(...mapButtons);

  return { showLegend, showPeople, hover, enlarge };
}
