// The parts of the page, and where they stand.
import { button, h } from "./dom.js";

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
  const banner = h("p", { class: "banner", role: "status", hidden: true });
  const canvas = h("canvas", { class: "points", tabindex: "0", role: "application", "aria-label": "Map of all items; arrow keys move to the nearest item, Enter opens it" });
  const overlay = h("canvas", { class: "overlay", "aria-hidden": "true" });
  const mapNote = h("p", { class: "map-note" }, "drag · wheel · click to open · Shift + drag: select");
  const mapBehind = h("p", { class: "map-behind", hidden: true });
  const groupButton = button("", () => page.openGroup(), { class: "strong", id: "group", hidden: true });
  const lassoButton = button("Select", () => page.drawLasso(), { id: "lasso", title: "Draw around items (Shift + drag)", "aria-pressed": "false" });
  const thought = h("span", { class: "thought" });
  const dialog = h("dialog", { class: "dialog" });
  const progressBar = h("progress", { max: "1", "aria-label": "Building the model" });
  const progressText = h("p", {});
  const progress = h("div", { class: "progress" }, progressText, progressBar);
  const undoButton = button("Undo", () => page.post({ do: "undo" }), { class: "quiet", title: "Backspace" });
  const redoButton = button("Redo", () => page.post({ do: "redo" }), { class: "quiet", title: "Ctrl+Y" });
  const finishButton = button("Finish", () => page.openFinish(), { class: "strong", title: "Shift+F" });

  root.append(
    h(
      "header",
      {},
      titleText,
      h("p", { class: "status" }, labelCount, saved, short, thought),
      h(
        "nav",
        { "aria-label": "Session" },
        button("?", () => page.openHelp(), { "aria-label": "Keys", title: "?" }),
        button("◐", () => page.switchTheme(), { "aria-label": "Light or dark" }),
        button("Export", () => page.openExport()),
        finishButton,
      ),
    ),
    banner,
    h(
      "main",
      {},
      h(
        "div",
        { class: "left" },
        h("section", { class: "item", "aria-label": "Item" }, itemBox, itemNote),
        classBar,
        h(
          "div",
          { class: "actions" },
          button("Skip", () => page.skip(), { class: "quiet", "data-key": "s" }),
          button("Unsure", () => page.skip("unsure"), { class: "quiet", "data-key": "u" }),
          undoButton,
          redoButton,
          button("Search", () => page.openSearch(), { class: "quiet", title: "/" }),
          button("Groups", () => page.openConfirm(), { class: "quiet", "data-key": "c" }),
          button("Prediction", () => page.togglePrediction(), { class: "quiet", "data-key": "p", "aria-pressed": "false", id: "prediction" }),
        ),
        h("section", { "aria-label": "Nearest items" }, h("h2", {}, "Nearest"), nearList),
      ),
      h(
        "div",
        { class: "right" },
        h("section", { class: "map", "aria-label": "Map" }, canvas, overlay, mapBehind, h("div", { class: "map-tools" }, groupButton, lassoButton), mapNote),
        h("section", { class: "estimate", "aria-label": "How good it is" }, h("h2", {}, "How good is it?"), figure, curve, perClass),
        h("section", { "aria-label": "History" }, h("h2", {}, "History"), history),
      ),
    ),
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
    banner,
    canvas,
    overlay,
    mapNote,
    mapBehind,
    groupButton,
    lassoButton,
    thought,
    dialog,
    progressBar,
    progressText,
    progress,
    undoButton,
    redoButton,
    finishButton,
  };
}
