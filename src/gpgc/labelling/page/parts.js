// The parts of the page, and where they stand.
import { button, h } from "./dom.js";

/** A button with its key on it; `data-key` is the usual one, of which a class may take the letter. */
function action(text, key, act, more = {}) {
  const cap = h("kbd", { "aria-hidden": "true" }, key);
  return h("button", { type: "button", class: "action", onclick: act, "data-key": /^[a-z]$/.test(key) ? key : null, ...more }, h("span", {}, text), cap);
}

export function buildParts(page) {
  const root = h("div", { class: "gpgc", tabindex: "-1", "data-lm-suppress-shortcuts": "true" });
  const live = h("p", { class: "hidden", "aria-live": "polite" });
  const titleText = h("h1", {}, "gpgc");
  const saved = h("span", { class: "saved" });
  const labelCount = h("span", { id: "labels" }, "0 labels");
  const short = h("span", { class: "short" });
  const itemBox = h("div", { class: "item-box" });
  const itemNote = h("p", { class: "note" });
  const nearList = h("ul", { class: "near" });
  const classBar = h("div", { class: "classes", role: "group", "aria-label": "Classes" });
  const history = h("ol", { class: "history" });
  const figure = h("div", { class: "figure" });
  const curve = h("div", { class: "curve" });
  const perClass = h("div", { class: "per-class" });
  const peopleBox = h("div", { class: "per-class", id: "people" });
  const banner = h("p", { class: "banner", role: "status", hidden: true });
  const canvas = h("canvas", { class: "points", tabindex: "0", role: "application", "aria-label": "Map of all items; arrow keys move to the nearest item, Enter opens it" });
  const overlay = h("canvas", { class: "overlay", "aria-hidden": "true" });
  const mapNote = h("p", { class: "map-note" }, "The map comes with the graph.");
  const mapBehind = h("p", { class: "map-behind", hidden: true });
  const groupButton = button("", () => page.openGroup(), { class: "strong", id: "group", hidden: true });
  const lassoButton = button("Select", () => page.drawLasso(), { id: "lasso", title: "Draw around items (Shift + drag)", "aria-pressed": "false" });
  const mapTools = h("div", { class: "map-tools", hidden: true }, groupButton, lassoButton);
  const mapTip = h("div", { class: "map-tip", hidden: true });
  const mapBox = h("section", { class: "map", "aria-label": "Map" }, canvas, overlay, mapBehind, mapTools, mapTip, mapNote);
  const legendBox = h("div", { class: "legend", role: "group", "aria-label": "What stands out on the map" });
  const thought = h("span", { class: "thought" });
  const dialog = h("dialog", { class: "dialog" });
  const progressBar = h("progress", { max: "1", "aria-label": "Building the model" });
  const progressText = h("span", {});
  const progress = h("span", { class: "progress", hidden: true }, progressBar, progressText);
  const undoButton = action("Undo", "⌫", () => page.post({ do: "undo" }), { title: "Backspace, or Ctrl + Z" });
  const redoButton = action("Redo", "Ctrl Y", () => page.post({ do: "redo" }));
  const guideBox = h("section", { class: "guide", "aria-label": "Guide", tabindex: "0", hidden: true });
  const suggestionBox = h("div", { class: "suggestion", hidden: true });
  const reviewButton = action("Review", "r", () => page.openReview(), { id: "review" });
  const finishButton = button("Finish", () => page.openFinish(), { class: "strong", title: "Shift+F" });

  root.append(
    h(
      "header",
      {},
      titleText,
      h("p", { class: "status" }, labelCount, saved, short, thought, progress),
      h(
        "nav",
        { "aria-label": "Session" },
        button("Guide", () => page.toggleGuide(), { id: "guide", "data-key": "g", hidden: true }),
        button("?", () => page.openHelp(), { "aria-label": "Keys", title: "?" }),
        button("◐", () => page.switchTheme(), { "aria-label": "Light or dark" }),
        button("Export", () => page.openExport()),
        finishButton,
      ),
    ),
    h(
      "main",
      {},
      h(
        "div",
        { class: "left" },
        h("section", { class: "item", "aria-label": "Item" }, itemBox, itemNote),
        guideBox,
        suggestionBox,
        classBar,
        h(
          "div",
          { class: "actions" },
          action("Skip", "s", () => page.skip()),
          action("Unsure", "u", () => page.skip("unsure")),
          undoButton,
          redoButton,
          action("Search", "/", () => page.openSearch()),
          reviewButton,
          action("Groups", "c", () => page.openConfirm()),
          action("Prediction", "p", () => page.togglePrediction(), { "aria-pressed": "false", id: "prediction" }),
        ),
        h("section", { "aria-label": "Nearest items" }, h("h2", {}, "Nearest"), nearList),
      ),
      h(
        "div",
        { class: "right" },
        mapBox,
        legendBox,
        h("section", { class: "estimate", "aria-label": "How good it is" }, h("h2", {}, "How good is it?"), figure, curve, perClass, peopleBox),
        h("section", { "aria-label": "History" }, h("h2", {}, "History"), history),
      ),
    ),
    banner,
    live,
    dialog,
  );
  return {
    root,
    live,
    titleText,
    saved,
    labelCount,
    short,
    itemBox,
    itemNote,
    nearList,
    classBar,
    history,
    figure,
    curve,
    perClass,
    peopleBox,
    banner,
    canvas,
    overlay,
    mapNote,
    mapBehind,
    groupButton,
    lassoButton,
    mapBox,
    mapTools,
    mapTip,
    legendBox,
    thought,
    dialog,
    progressBar,
    progressText,
    progress,
    undoButton,
    redoButton,
    reviewButton,
    suggestionBox,
    guideBox,
    finishButton,
  };
}
