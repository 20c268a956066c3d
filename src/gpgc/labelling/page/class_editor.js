// Classes that live: another name, another colour or key, another place, merged or deleted.
import { findClasses } from "./classes.js";
import { button, colourOf, count, h } from "./dom.js";
import { PALETTE } from "./palette.js";

/** @type {import("./types").Part} */
export default function classEditor(page) {
  const { state } = page;
  const { dialog } = page.parts;

  /** Send an event, and look at the classes again once it is saved. */
  async function change(event) {
    page.post(event);
    if (await page.whenSaved()) openClasses();
  }

  function openClasses() {
    const names = state.classes.map((each) => each.name);
    const move = (i, step) => {
      const order = [...names];
      [order[i], order[i + step]] = [order[i + step], order[i]];
      change({ do: "order", classes: order });
    };
    page.openDialog(
      "classes",
      "Classes",
      h("p", { class: "muted" }, "Every change is in the journal, and one undo takes it back."),
      h("ol", { class: "class-list" }, state.classes.map((each, i) => page.tint(h(
        "li",
        { "data-name": each.name },
        h("kbd", {}, each.key || "·"),
        h("span", { class: "class-name" }, each.name),
        h("span", { class: "muted" }, count(each.labels, "label")),
        h(
          "span",
          { class: "class-tools" },
          button("↑", () => move(i, -1), { class: "quiet", "aria-label": `${each.name} up`, disabled: i === 0 }),
          button("↓", () => move(i, 1), { class: "quiet", "aria-label": `${each.name} down`, disabled: i === names.length - 1 }),
          button("Edit", () => openOne(each), { class: "quiet", "aria-label": `Edit ${each.name}` }),
        ),
      ), each.name))),
      h("div", { class: "classes" }, button("+ class", page.openClass), button("Undo", () => change({ do: "undo" }))),
    );
  }

  function openOne(each) {
    const text = (value, label, more) => h("input", { type: "text", value, "aria-label": label, autocomplete: "off", ...more });
    const name = text(each.name, "Name", { maxlength: state.settings.limits.label, required: true });
    const key = text(each.key, "Key", { maxlength: 2, pattern: "⇧?[0-9]|[a-z]", title: "a digit, ⇧ and a digit, or a letter" });
    const others = state.classes.filter((other) => other.name !== each.name);
    const colours = PALETTE.map((colour) => {
      const one = button("", () => change({ do: "style", label: each.name, colour }), { class: "swatch", "aria-label": `Colour ${colour}`, "aria-pressed": String(colourOf(each) === colour) });
      one.style.background = colour;
      return one;
    });
    const merge = h("select", { "aria-label": "Merge into" }, h("option", { value: "" }, "merge into …"), others.map((other) => h("option", { value: other.name }, other.name)));
    merge.addEventListener("change", () => merge.value && sure(`Merge ${each.name} into ${merge.value}?`, `${count(each.labels, "label")} become ${merge.value}.`, { do: "rename", label: each.name, to: merge.value }));
    const remove = button("Delete", () => sure(`Delete ${each.name}?`, `${count(each.labels, "item")} will be without a label again.`, { do: "delete", label: each.name }), { disabled: !others.length });
    page.openDialog(
      "classes",
      `Class ${each.name}`,
      page.form(() => {
        const wanted = name.value.trim();
        if (others.some((other) => other.name === wanted)) return sure(`Merge ${each.name} into ${wanted}?`, `There is a class of that name; ${count(each.labels, "label")} become ${wanted}.`, { do: "rename", label: each.name, to: wanted });
        if (wanted && wanted !== each.name) change({ do: "rename", label: each.name, to: wanted });
      }, name, h("button", { class: "strong" }, "Rename")),
      page.form(() => key.value && change({ do: "style", label: each.name, key: key.value }), key, h("button", {}, "Change key")),
      h("div", { class: "swatches", role: "group", "aria-label": "Colour" }, colours),
      h("div", { class: "classes" }, merge, remove, button("Back", openClasses, { class: "quiet" })),
    );
    name.focus();
  }

  function sure(title, text, event) {
    const yes = button("Yes", () => change(event), { class: "strong" });
    page.openDialog("classes", title, h("p", {}, `${text} One undo takes it back.`), h("div", { class: "classes" }, yes, button("No", openClasses, { class: "quiet" })));
    yes.focus();
  }

  /** Find a class by typing, for those that have no key; the likeliest first where that may be shown. */
  async function openFind() {
    const item = state.visiting ?? state.desk[0];
    if (!item) return;
    const field = h("input", { type: "text", role: "searchbox", "aria-label": "Find a class", autocomplete: "off" });
    const list = h("ul", { class: "found" });
    const show = () => {
      const found = findClasses(state.classes, field.value, state.shows ? item.guess?.[0] : null);
      list.replaceChildren(...found.slice(0, 12).map((each) => h("li", {}, page.buildChip(each, () => {
        dialog.close();
        page.decide(each.name);
      }))));
    };
    field.addEventListener("input", show);
    page.openDialog("find", "Label as", page.form(() => list.querySelector("button")?.click(), field), list);
    show();
    field.focus();
  }

  return { openClasses, openFind };
}
