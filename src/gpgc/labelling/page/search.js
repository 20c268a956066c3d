// Items by words, class, state or person: a list to open from, and a queue to answer one by one.
import { button, count, h, percent } from "./dom.js";

const STATES = [["", "all items"], ["unlabelled", "without a label"], ["labelled", "labelled"], ["skipped", "skipped"], ["doubt", "in doubt"], ["sure", "the model is sure"]];

/** @param {import("./types").Page} page @returns {Partial<import("./types").Page>} */
export default function search(page) {
  const { ask, state } = page;
  const { dialog } = page.parts;

  const choice = (label, options) => h("select", { "aria-label": label }, options.map(([value, text]) => h("option", { value }, text)));

  async function openSearch() {
    const field = h("input", { type: "text", role: "searchbox", "aria-label": "Search items by name or text", placeholder: "name or text", autocomplete: "off" });
    const label = choice("Class", [["", "any class"], ...state.classes.map((each) => [each.name, each.name])]);
    const which = choice("State", STATES);
    const who = choice("Person", [["", "by anybody"]]);
    who.hidden = true; // until it is known that there are several
    const total = h("p", { class: "muted", id: "found", role: "status" });
    const list = h("ul", { class: "found" });
    const go = button("", () => begin(found), { class: "strong", id: "ask-found" });
    go.hidden = true; // until something is found
    let found = [];
    let asked = 0;

    async function look() {
      const wanted = { q: field.value, label: label.value, state: which.value, who: who.value, shows: state.shows };
      const mine = ++asked;
      const answer = await ask("search", wanted);
      if (!answer.ok || mine !== asked) return; // something else is looked for by now
      found = answer.body.items;
      const n = answer.body.count;
      const isAll = !Object.values({ ...wanted, shows: "" }).some(Boolean);
      total.textContent = isAll ? "" : count(n, "item");
      go.textContent = `Ask ${n > found.length ? `the first ${found.length}` : n === 1 ? "it" : `these ${n}`} next`;
      go.hidden = isAll || !n;
      list.replaceChildren(...(isAll ? [] : answer.body.found.map(line)));
    }

    page.openDialog(
      "Search",
      page.form(() => list.querySelector("button")?.click(), field),
      h("div", { class: "filters" }, label, which, who),
      h("div", { class: "filters" }, total, go),
      list,
    );
    dialog.dataset.kind = "search";
    field.addEventListener("input", () => page.soon("search", look, 120));
    for (const each of [label, which, who]) each.addEventListener("change", look);
    look();
    field.focus();
    const people = Object.keys((await ask("people")).body ?? {}).filter(Boolean);
    who.hidden = people.length < 2;
    who.append(...people.map((name) => h("option", { value: name }, `by ${name}`)));
  }

  function line(each) {
    const open = () => {
      dialog.close();
      page.visit(each.item);
    };
    const guess = each.guess ? `${each.guess[0]}? ${percent(each.guess[1])} %` : "";
    const mark = page.tint(h("span", { class: each.label ? "mark given" : "mark" }, each.label ?? guess), each.label ?? each.guess?.[0]);
    const text = each.line === each.id ? null : h("span", { class: "line", dir: "auto" }, each.line);
    return h("li", {}, h("button", { type: "button", class: "quiet", onclick: open }, page.thumbnail(each.item), h("b", {}, each.id), text, each.by ? h("span", { class: "muted" }, each.by) : null, each.label || guess ? mark : null));
  }

  /** Ask the items of a list one after the other; Esc ends it. */
  function begin(items) {
    dialog.close();
    state.queue = [...items];
    page.forwardInQueue();
  }

  return { openSearch };
}
