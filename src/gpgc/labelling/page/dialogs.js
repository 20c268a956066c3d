// Keys, export, new class, search and finish, each in a dialog.
import { button, count, h } from "./dom.js";

const KEYS = [
  ["1 … 9, 0", "label, save and go on"],
  ["Shift + digit", "classes 11 to 20"],
  ["n", "new class"],
  ["Enter", "accept what is suggested from outside (--suggestions)"],
  ["j, k, Page ↓ ↑", "scroll a long item"],
  ["g", "the guide (--guide)"],
  ["f", "find a class by typing"],
  ["e", "edit classes: rename, merge, delete, colour, key, order"],
  ["Backspace, Ctrl+Z", "undo"],
  ["Ctrl+Y", "redo"],
  ["s", "skip"],
  ["u", "unsure: skip, with a note"],
  ["← →", "through what was decided; a digit then corrects"],
  ["p", "show or hide what the model thinks, of an open item once it is answered"],
  ["m", "to the map: arrows move, Enter opens"],
  ["c", "confirm a group that the model is sure of: Enter accepts, a key rejects one"],
  ["r", "review: labels that look wrong, unsure and skipped items; Enter keeps, Space changes"],
  ["b", "label all items that are selected (Select, or Shift + drag on the map)"],
  ["/", "search by words, class, certainty or person; ask what was found next"],
  ["Shift + F", "finish: closing audit"],
  ["?", "these keys"],
  ["Esc", "back to the current item"],
];

/** @type {import("./types").Part} */
export default function dialogs(page) {
  const { model, state } = page;
  const { dialog } = page.parts;

  dialog.addEventListener("close", () => page.regainFocus());

  /** Open a dialog of a kind, by which its keys and its width are known. */
  function open(kind, title, ...content) {
    dialog.dataset.kind = kind;
    dialog.replaceChildren(
      h("div", { class: "dialog-head" }, h("h2", {}, title), button("×", () => dialog.close(), { "aria-label": "Close", class: "quiet" })),
      ...content.filter(Boolean),
    );
    dialog.setAttribute("aria-label", title);
    dialog.showModal();
  }

  const form = (onsubmit, ...content) =>
    h("form", { method: "dialog", onsubmit: (event) => {
      event.preventDefault();
      onsubmit();
    } }, ...content);

  function openHelp() {
    open("help", "Keys", h("dl", { class: "keys" }, KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, page.keyOf(key))), h("dd", {}, what)])), h("p", { class: "muted", id: "features" }, state.settings.features));
  }

  function exportLink(name) {
    const link = h("a", { href: "#", download: name }, name);
    const address = model.get("exports")(name);
    if (typeof address === "string") link.href = address;
    else link.addEventListener("click", async (event) => {
      event.preventDefault();
      const file = URL.createObjectURL(new Blob([await address()]));
      h("a", { href: file, download: name }).click();
    });
    return link;
  }

  function openExport() {
    const what = {
      "labels.csv": "labels that were given, by whom, when and why",
      "predictions.csv": "a label with probability and std for every item",
      "model.gpgc": "the fitted model, for gpgc.load",
      "journal.jsonl": "everything that happened",
      "certificate.html": "what the closing audit measured, as a page",
      "certificate.json": "the same for programs",
    };
    const known = state.settings.exports.filter((name) => state.phase === "closed" || !name.startsWith("certificate"));
    const links = known.map((name) => h("li", {}, exportLink(name), h("span", { class: "muted" }, ` – ${what[name]}`)));
    open("export", "Export", h("p", {}, "Predictions and model are fitted afresh to all labels, the random items included."), h("ul", { class: "exports" }, links));
  }

  /** Ask for the names of classes: one, or all of them where there are none yet. */
  function openClass() {
    const isFirst = !state.classes.length;
    const about = { required: true, "aria-label": isFirst ? "Names of the classes" : "Name of the class", autocomplete: "off" };
    const field = isFirst ? h("textarea", { rows: 6, ...about }) : h("input", { type: "text", maxlength: state.settings.limits.label, ...about });
    open(
      "new-class",
      isFirst ? "Which classes are there?" : "New class",
      isFirst ? h("p", {}, "One name a line. More can be added, renamed and merged at any time.") : null,
      form(() => {
        for (const name of new Set(field.value.split("\n").map((line) => line.trim()))) {
          if (name) page.post({ do: "class", label: name });
        }
        dialog.close();
      }, field, h("button", { class: "strong" }, isFirst ? "Begin" : "Add")),
    );
    field.focus();
  }

  function openFinish() {
    if (state.phase !== "labelling") {
      open(
        "finish",
        "Closing audit",
        h("p", {}, "Go on labelling? The answers of the audit become labels like all others."),
        form(() => {
          page.post({ do: "continue" });
          dialog.close();
        }, h("button", { class: "strong" }, "Continue labelling")),
      );
      return;
    }
    const { goal, audited } = state;
    const fresh = goal ? Math.max(1, goal.audits[1] - goal.audits[0]) : 30;
    const field = h("input", { type: "number", min: 1, max: 10000, value: fresh, "aria-label": "Number of random items" });
    const known = audited ? ` The ${count(audited, "random item")} that you answered already count too${goal ? `; with ${fresh} more they make the ± ${Number((100 * goal.within).toFixed(1))} points of the goal` : ""}.` : "";
    open(
      "finish",
      "Finish with a closing audit",
      h("p", {}, "The model is frozen and you label fresh random items. What comes out is measured, not estimated: an exact 95 % interval. If 85 % are right, 30 items say 69 to 96 %, 60 say 73 to 93 %, 200 say 79 to 90 %.", known),
      form(() => {
        page.post({ do: "finish", n: Number(field.value) });
        dialog.close();
      }, field, h("button", { class: "strong" }, "Begin the audit")),
    );
    field.focus();
  }

  return { openDialog: open, form, exportLink, openHelp, openExport, openClass, openFinish };
}
