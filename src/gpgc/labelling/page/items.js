// The item on the screen, what it is near to, and visits to others.
import { count, h, percent, refill } from "./dom.js";

/** @param {import("./types").Page} page @returns {Partial<import("./types").Page>} */
export default function items(page) {
  const { ask, map, model, state } = page;
  const { root, itemBox, itemNote, nearList } = page.parts;

  /** Build what is shown of an item before it is needed, its image decoded. */
  function prepare(data) {
    if (state.prepared.has(data.item)) return state.prepared.get(data.item);
    const parts = [];
    if (data.image) {
      const image = h("img", { alt: `Item ${data.id}`, draggable: "false" });
      image.addEventListener("load", () => image.classList.toggle("tiny", image.naturalWidth < 100));
      image.addEventListener("error", async () => {
        // an answer that says yes holds the broken image itself, not a sentence
        const reason = await fetch(image.src).then((answer) => (answer.ok ? "" : answer.text())).catch(() => "");
        image.replaceWith(h("p", { class: "problem" }, reason.slice(0, 200) || "The image is broken.", " It can still be labelled."));
      });
      Promise.resolve(model.get("images")(data.item)).then((address) => {
        image.src = address;
        image.decode?.().catch(() => {});
      });
      parts.push(image);
    } else if (data.text !== undefined) {
      parts.push(h("p", { class: "text", dir: "auto" }, data.text, data.is_cut ? " …" : ""));
    } else if (data.cells) {
      const rows = data.cells.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { dir: "auto" }, value)));
      parts.push(h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Features" }, h("table", {}, h("tbody", {}, rows))));
    } else {
      parts.push(h("p", { class: "name" }, data.title ?? data.id));
    }
    const ready = { ...data, element: h("div", { class: `shown ${state.settings.kind}` }, parts) };
    state.prepared.set(data.item, ready);
    if (state.prepared.size > 60) state.prepared.delete(state.prepared.keys().next().value);
    return ready;
  }

  /** Put an item on the screen. */
  function show() {
    const item = state.visiting ?? state.desk[0];
    root.classList.toggle("visiting", Boolean(state.visiting));
    if (!item) {
      refill(itemBox, emptyText());
      delete itemBox.dataset.item;
      page.fade();
      itemNote.textContent = "";
      refill(nearList);
      map.mark(null);
      page.showSuggestion(null);
      return;
    }
    if (itemBox.firstChild !== item.element) {
      refill(itemBox, item.element);
      itemBox.dataset.item = item.item;
      page.holdKeys();
      page.say(`Item ${item.id}`);
      page.fade();
      // what is not the item itself waits until the item was painted
      requestAnimationFrame(() => setTimeout(() => itemBox.dataset.item === String(item.item) && look(item), 0));
    }
    describe(item);
    page.showSuggestion(item);
    page.markClass(item.label);
  }

  function describe(item) {
    const links = item.links === undefined ? "" : state.settings.is_linked ? ` · ${count(item.links, "link")}` : ` · similar to ${count(item.links, "item")}`;
    const now = item.label ? ` · labelled ${item.label}` : "";
    const said = item.guess ? ` · model: ${item.guess[0]}, ${percent(item.guess[1])} %` : state.visiting ? "" : " · what the model thinks is shown once you answered";
    itemNote.textContent = `${item.id}${links}${now}${state.queue.length ? ` · ${count(state.queue.length, "more", "more")} of the list` : ""}${state.visiting ? " · Esc goes back" : ""}${state.shows ? said : ""}`;
  }

  function emptyText() {
    const { phase, settings } = state;
    if (!settings) return h("p", { class: "calm" }, "One moment …");
    if (phase === "closed") return state.certificate ? page.buildCertificate(state.certificate) : h("p", { class: "calm" }, "The closing audit is done. One moment …");
    if (state.labels >= settings.nodes) return h("p", { class: "calm" }, "Every item has a label.");
    return h("p", { class: "calm" }, "One moment …");
  }

  /** Show what an item is near to, and the model's opinion on it. */
  async function look(item) {
    map.mark(item.item);
    const [near, edges] = await Promise.all([ask("near", { item: item.item, shows: state.shows }), ask("edges", { item: item.item })]);
    if (itemBox.dataset.item !== String(item.item)) return;
    if (edges.ok) map.mark(item.item, edges.body.links);
    if (!near.ok) return;
    item.guess = near.body.guess;
    refill(nearList, ...near.body.near.map((other) => nearby(other)));
    page.showPrediction(item);
  }

  function nearby(other) {
    const word = other.label ?? (state.shows && other.guess ? `${other.guess[0]}? ${percent(other.guess[1])} %` : "");
    const content = thumbnail(other.item) ?? h("span", { class: "line", dir: "auto" }, other.line);
    const mark = page.tint(h("span", { class: "mark" }, word), other.label ?? (state.shows ? other.guess?.[0] : null));
    mark.classList.toggle("given", Boolean(other.label));
    return h("li", {}, h("button", { type: "button", onclick: () => visit(other.item), "aria-label": state.settings.kind === "image" ? `${other.line}, ${word}` : undefined }, content, mark));
  }

  function thumbnail(node) {
    if (state.settings.kind !== "image") return null;
    const image = h("img", { alt: "", loading: "lazy" });
    Promise.resolve(model.get("thumbnails")(node)).then((address) => (image.src = address));
    return image;
  }

  async function visit(node) {
    const answer = await ask("item", { item: node });
    if (!answer.ok) return forwardInQueue();
    state.prepared.delete(node);
    state.visiting = prepare(answer.body);
    show();
  }

  /** Open the next item of the list that is asked one by one, or go back at its end. */
  function forwardInQueue() {
    page.holdKeys(); // none is meant for what is about to go
    const next = state.queue.shift();
    if (next === undefined) leave();
    else visit(next);
  }

  function leave() {
    state.visiting = null;
    state.queue = [];
    state.place = -1;
    show();
  }

  return { prepare, show, describe, look, thumbnail, visit, forwardInQueue, leave };
}
