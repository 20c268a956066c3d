// The classes with their keys, and what the model thinks.
import { button, colourOf, h, percent, refill } from "./dom.js";

const MANY = 10; // classes beyond which one is found by typing
const LIKELY = 5; // classes that come first while one is typed

/**
 * Classes whose name holds a text: those that begin with it first, then the likely one, those with
 * most labels, and the others as they stand.
 * @param {import("./types").Klass[]} classes
 * @param {string} text
 * @param {string | null} [likely]
 */
export function findClasses(classes, text, likely) {
  const wanted = text.trim().toLowerCase();
  const first = classes.filter((each) => each.name === likely);
  const often = [...classes].sort((a, b) => b.labels - a.labels).slice(0, LIKELY);
  const found = [...new Set([...first, ...often, ...classes])].filter((each) => each.name.toLowerCase().includes(wanted));
  const begins = (each) => each.name.toLowerCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((each) => !begins(each))];
}

/** @type {import("./types").Part} */
export default function classes(page) {
  const { state } = page;
  const { root, classBar, thought } = page.parts;

  /** Give an element the colour of a class, by its name, and return it. */
  function tint(element, name) {
    const found = state.classes.find((each) => each.name === name);
    if (found) element.style.setProperty("--class", colourOf(found));
    return element;
  }

  /** Build the button of a class. */
  function buildChip(each, onclick) {
    const name = h("span", { class: each.key === each.name ? "class-name hidden" : "class-name" }, each.name);
    return tint(h("button", { type: "button", class: "class", "data-name": each.name, title: each.name, onclick }, h("kbd", {}, each.key || "·"), name), each.name);
  }

  function showClasses() {
    const looks = JSON.stringify(state.classes.map(({ labels, ...look }) => look));
    if (classBar.dataset.looks === looks) {
      state.classes.forEach((each, i) => (classBar.children[i].querySelector(".count").textContent = each.labels));
      return;
    }
    classBar.dataset.looks = looks;
    page.map.dress(state.classes);
    page.showLegend();
    for (const each of root.querySelectorAll("[data-key]")) {
      each.title = page.keyOf(each.dataset.key);
      const cap = each.querySelector("kbd");
      if (cap) cap.textContent = each.title.replace("Shift + ", "⇧");
    }
    refill(
      classBar,
      ...state.classes.map((each) => {
        const chip = buildChip(each, () => page.decide(each.name));
        chip.append(h("span", { class: "count", "aria-label": "labels" }, each.labels));
        return chip;
      }),
      state.classes.length > MANY ? button("Find", page.openFind, { class: "quiet", "data-key": "f", title: page.keyOf("f") }) : null,
      button("+ class", page.openClass, { class: "quiet add", title: page.keyOf("n") }),
      button("Edit", page.openClasses, { class: "quiet", "aria-label": "Edit classes", "data-key": "e", title: page.keyOf("e") }),
    );
  }

  function markClass(label) {
    for (const chip of classBar.querySelectorAll(".class")) chip.classList.toggle("chosen", chip.dataset.name === label);
  }

  function showPrediction(item) {
    for (const chip of classBar.querySelectorAll(".class")) {
      chip.classList.toggle("likely", state.shows && item?.guess?.[0] === chip.dataset.name);
    }
    if (item) page.describe(item);
  }

  /** Say what the model thought of the item that was answered last. */
  function showThought(found) {
    const { guess } = found ?? {};
    thought.textContent = state.shows && guess ? `last: model ${guess[0]}, ${percent(guess[1])} %` : "";
  }

  function togglePrediction() {
    state.shows = !state.shows;
    showThought();
    root.querySelector("#prediction").setAttribute("aria-pressed", String(state.shows));
    const item = state.visiting ?? state.desk[0];
    if (!item) return;
    page.show();
    page.look(item);
  }

  return { tint, buildChip, showClasses, markClass, showPrediction, showThought, togglePrediction };
}
