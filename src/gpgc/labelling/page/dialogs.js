// Keys, export, new class, search and finish, each in a dialog.
import { button, h } from "./dom.js";

const KEYS = [
  ["1 … 9, 0", "label, save and go on"],
  ["Shift + digit", "classes 11 to 20"],
  ["n", "new class"],
  ["Backspace, Ctrl+Z", "undo"],
  ["Ctrl+Y", "redo"],
  ["s", "skip"],
  ["u", "unsure: skip, with a note"],
  ["← →", "through what was decided; a digit then corrects"],
  ["p", "show or hide what the model thinks, of an open item once it is answered"],
  ["m", "to the map: arrows move, Enter opens"],
  ["c", "confirm a group that the model is sure of: Enter accepts, a key rejects one"],
  ["b", "label all items that are selected (Select, or Shift + drag on the map)"],
  ["/", "search an item"],
  ["Shift + F", "finish: closing audit"],
  ["?", "these keys"],
  ["Esc", "back to the current item"],
];

export default function dialogs(page) {
  const { ask, model, state } = page;
  const { dialog } = page.parts;

  dialog.addEventListener("close", () => page.regainFocus());

  function open(title, ...content) {
    delete dialog.dataset.kind;
    dialog.replaceChildren(
      h("div", { class: "dialog-head" }, h("h2", {}, title), button("×", () => dialog.close(), { "aria-label": "Close", class: "quiet" })),
      ...content,
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
    open("Keys", h("dl", { class: "keys" }, KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, page.keyOf(key))), h("dd", {}, what)])));
  }

  function openExport() {
    const what = {
      "labels.csv": "labels that were given, by whom, when and why",
      "predictions.csv": "a label with probability and std for every item",
      "model.gpgc": "the fitted model, for gpgc.load",
      "journal.jsonl": "everything that happened",
    };
    const links = state.settings.exports.map((name) => {
      const link = h("a", { href: "#", download: name }, name);
      const address = model.get("exports")(name);
      if (typeof address === "string") link.href = address;
      else link.addEventListener("click", async (event) => {
        event.preventDefault();
        const file = URL.createObjectURL(new Blob([await address()]));
        h("a", { href: file, download: name }).click();
      });
      return h("li", {}, link, h("span", { class: "muted" }, ` – ${what[name]}`));
    });
    open("Export", h("p", {}, "Predictions and model are fitted afresh to all labels, the random items included."), h("ul", { class: "exports" }, links));
  }

  function openClass() {
    const field = h("input", { type: "text", maxlength: state.settings.limits.label, required: true, "aria-label": "Name of the class", autocomplete: "off" });
    open(
      "New class",
      form(() => {
        const name = field.value.trim();
        if (name) page.post({ do: "class", label: name });
        dialog.close();
      }, field, h("button", { class: "strong" }, "Add")),
    );
    field.focus();
  }

  function openSearch() {
    const field = h("input", { type: "text", role: "searchbox", "aria-label": "Search items by name", autocomplete: "off" });
    const list = h("ul", { class: "found" });
    const look = async () => {
      const answer = await ask("search", { q: field.value });
      if (!answer.ok) return;
      list.replaceChildren(...answer.body.found.map((each) => {
        const open = () => {
          dialog.close();
          page.visit(each.item);
        };
        const line = each.line === each.id ? null : h("span", { class: "muted" }, ` ${each.line}`);
        return h("li", {}, h("button", { type: "button", class: "quiet", onclick: open }, page.thumbnail(each.item), h("b", {}, each.id), line));
      }));
    };
    field.addEventListener("input", () => page.soon("search", look, 120));
    open("Search", form(() => list.querySelector("button")?.click(), field), list);
    field.focus();
  }

  function openFinish() {
    if (state.phase !== "labelling") {
      open(
        "Closing audit",
        h("p", {}, "Go on labelling? The answers of the audit become labels like all others."),
        form(() => {
          page.post({ do: "continue" });
          dialog.close();
        }, h("button", { class: "strong" }, "Continue labelling")),
      );
      return;
    }
    const field = h("input", { type: "number", min: 1, max: 10000, value: 30, "aria-label": "Number of random items" });
    open(
      "Finish with a closing audit",
      h("p", {}, "The model is frozen and you label fresh random items. What comes out is measured, not estimated: an exact 95 % interval. If 85 % are right, 30 items say 69 to 96 %, 60 say 73 to 93 %, 200 say 79 to 90 %."),
      form(() => {
        page.post({ do: "finish", n: Number(field.value) });
        dialog.close();
      }, field, h("button", { class: "strong" }, "Begin the audit")),
    );
    field.focus();
  }

  return { openDialog: open, openHelp, openExport, openClass, openSearch, openFinish };
}
