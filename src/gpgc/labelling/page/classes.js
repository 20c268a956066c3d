// The classes with their keys, and what the model thinks.
import { button, colourOf, h, percent, refill } from "./dom.js";

export default function classes(page) {
  const { state } = page;
  const { root, classBar, thought } = page.parts;

  function showClasses() {
    const known = [...classBar.querySelectorAll(".class")].map((chip) => chip.dataset.name);
    if (known.join("\n") === state.classes.map((each) => each.name).join("\n") && known.length) {
      state.classes.forEach((each, i) => (classBar.children[i].querySelector(".count").textContent = each.labels));
      return;
    }
    for (const each of root.querySelectorAll("[data-key]")) each.title = page.keyOf(each.dataset.key);
    refill(
      classBar,
      ...state.classes.map((each, place) => {
        const chip = h(
          "button",
          { type: "button", class: "class", "data-name": each.name, title: each.name, onclick: () => page.decide(each.name) },
          h("kbd", {}, each.key || "·"),
          h("span", { class: each.key === each.name ? "class-name hidden" : "class-name" }, each.name),
          h("span", { class: "count", "aria-label": "labels" }, each.labels),
        );
        chip.style.setProperty("--class", colourOf(place));
        return chip;
      }),
      button("+ class", page.openClass, { class: "quiet add", title: page.keyOf("n") }),
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

  return { showClasses, markClass, showPrediction, showThought, togglePrediction };
}
