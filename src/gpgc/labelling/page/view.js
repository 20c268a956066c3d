// The page, and the notebook widget: one item, one key, the next item. It speaks with the session
// through `model` alone (anywidget's form), so that both hosts run this file as it is.
import { drawCurve } from "./curve.js";
import { colourOf, count, h, percent } from "./dom.js";
import { NodeMap } from "./map.js";

const QUIET = 150; // milliseconds in which a key is not meant for a new item
const AHEAD = 4; // items that are held here, ready to be shown
const KEYS = [
  ["1 … 9, 0", "label, save and go on"],
  ["Shift + digit", "classes 11 to 20"],
  ["n", "new class"],
  ["Backspace, Ctrl+Z", "undo"],
  ["Ctrl+Y", "redo"],
  ["s", "skip"],
  ["u", "unsure: skip, with a note"],
  ["← →", "through what was decided; a digit then corrects"],
  ["p", "show or hide what the model thinks"],
  ["m", "to the map: arrows move, Enter opens"],
  ["b", "label all items in the lasso (Shift + drag)"],
  ["/", "search an item"],
  ["Shift + F", "finish: closing audit"],
  ["?", "these keys"],
  ["Esc", "back to the current item"],
];

function render({ model, el }) {
  const waiting = new Map();
  let serial = 0;

  /** Ask the session; resolves with {ok, status, body, data}. */
  const ask = (route, args = {}) =>
    new Promise((resolve) => {
      const id = ++serial;
      waiting.set(id, resolve);
      model.send({ id, route, args });
    });

  model.on("msg:custom", (message, buffers = []) => {
    if (message.news) return hear(message.news, message.about);
    const resolve = waiting.get(message.id);
    waiting.delete(message.id);
    resolve?.({ ...message, data: buffers[0] });
  });

  const state = {
    settings: null,
    classes: [],
    desk: [],
    prepared: new Map(),
    visiting: null,
    entries: [],
    place: -1,
    shownAt: 0,
    shows: false,
    lasso: [],
    sending: false,
    connected: true,
    stopped: false,
    labels: 0,
    phase: "labelling",
    layout: 0,
    moved: false,
  };

  // ---- the parts of the page -------------------------------------------------------------------
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
  const mapNote = h("p", { class: "map-note" }, "drag · wheel · click to open · Shift + drag: lasso");
  const dialog = h("dialog", { class: "dialog" });
  const progressBar = h("progress", { max: "1", "aria-label": "Building the model" });
  const progressText = h("p", {});
  const progress = h("div", { class: "progress" }, progressText, progressBar);

  const button = (text, action, props = {}) => h("button", { type: "button", onclick: action, ...props }, text);
  const undoButton = button("Undo", () => post({ do: "undo" }), { class: "quiet", title: "Backspace" });
  const redoButton = button("Redo", () => post({ do: "redo" }), { class: "quiet", title: "Ctrl+Y" });
  const finishButton = button("Finish", openFinish, { class: "strong", title: "Shift+F" });

  root.append(
    h(
      "header",
      {},
      titleText,
      h("p", { class: "status" }, labelCount, saved, short),
      h(
        "nav",
        { "aria-label": "Session" },
        button("?", openHelp, { "aria-label": "Keys", title: "?" }),
        button("◐", switchTheme, { "aria-label": "Light or dark" }),
        button("Export", openExport),
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
          button("Skip", () => skip(), { class: "quiet", title: "s" }),
          button("Unsure", () => skip("unsure"), { class: "quiet", title: "u" }),
          undoButton,
          redoButton,
          button("Search", openSearch, { class: "quiet", title: "/" }),
          button("Prediction", togglePrediction, { class: "quiet", title: "p", "aria-pressed": "false", id: "prediction" }),
        ),
        h("section", { "aria-label": "Nearest items" }, h("h2", {}, "Nearest"), nearList),
      ),
      h(
        "div",
        { class: "right" },
        h("section", { class: "map", "aria-label": "Map" }, canvas, overlay, mapNote),
        h("section", { class: "estimate", "aria-label": "How good it is" }, h("h2", {}, "How good is it?"), figure, curve, perClass),
        h("section", { "aria-label": "History" }, h("h2", {}, "History"), history),
      ),
    ),
    live,
    dialog,
  );
  el.append(root);

  const map = new NodeMap(canvas, overlay, {
    pick: (node) => visit(node),
    lasso: (nodes) => {
      state.lasso = nodes;
      say(`${count(nodes.length, "item")} in the lasso; press b to label them`);
      mapNote.textContent = live.textContent;
    },
  });
  if (!map.works) {
    canvas.hidden = overlay.hidden = true;
    mapNote.textContent = "The map needs WebGL2, which this browser does not offer. Everything else works.";
  }

  // ---- words -------------------------------------------------------------------------------------
  function say(text) {
    live.textContent = text;
  }

  function warn(text) {
    banner.textContent = text;
    banner.hidden = !text;
  }

  function switchTheme() {
    const dark = getComputedStyle(root).getPropertyValue("--is-dark").trim() === "1";
    root.dataset.theme = dark ? "light" : "dark";
    map.draw();
  }

  function showStatus() {
    labelCount.textContent = count(state.labels, "label");
    const unsent = outbox.length;
    saved.textContent = unsent ? (state.connected ? "saving …" : `${unsent} not saved`) : state.labels ? "saved ✓" : "";
    saved.classList.toggle("alarm", Boolean(unsent) && !state.connected);
  }

  // ---- items -------------------------------------------------------------------------------------
  /** Build what is shown of an item before it is needed, its image decoded. */
  function prepare(data) {
    if (state.prepared.has(data.item)) return state.prepared.get(data.item);
    const parts = [];
    if (data.image) {
      const image = h("img", { alt: `Item ${data.id}`, draggable: "false" });
      image.addEventListener("load", () => image.classList.toggle("tiny", image.naturalWidth < 100));
      image.addEventListener("error", async () => {
        const reason = await fetch(image.src).then((answer) => answer.text()).catch(() => "");
        image.replaceWith(h("p", { class: "problem" }, reason.slice(0, 200) || "The image cannot be shown.", " It can still be labelled."));
      });
      Promise.resolve(model.get("images")(data.item)).then((address) => {
        image.src = address;
        image.decode?.().catch(() => {});
      });
      parts.push(image);
    } else if (data.text !== undefined) {
      parts.push(h("p", { class: "text" }, data.text, data.is_cut ? " …" : ""));
    } else if (data.cells) {
      const rows = data.cells.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
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
      itemBox.replaceChildren(emptyText());
      itemNote.textContent = "";
      nearList.replaceChildren();
      map.mark(null);
      return;
    }
    if (itemBox.firstChild !== item.element) {
      itemBox.replaceChildren(item.element);
      itemBox.dataset.item = item.item;
      state.shownAt = performance.now();
      say(`Item ${item.id}`);
      // what is not the item itself waits until the item was painted
      requestAnimationFrame(() => setTimeout(() => itemBox.dataset.item === String(item.item) && look(item), 0));
    }
    const links = item.links === undefined ? "" : ` · ${count(item.links, "link")}`;
    const now = item.label ? ` · labelled ${item.label}` : "";
    itemNote.textContent = `${item.id}${links}${now}${state.visiting ? " · Esc goes back" : ""}`;
    markClass(item.label);
  }

  function emptyText() {
    const { phase, settings } = state;
    if (!settings) return h("p", { class: "calm" }, "One moment …");
    if (settings.progress[0] < 1) return progress;
    if (phase === "closed") return h("p", { class: "calm" }, "The closing audit is done. Export the labels, or go on labelling with Finish → Continue.");
    if (state.labels >= settings.nodes) return h("p", { class: "calm" }, "Every item has a label.");
    return h("p", { class: "calm" }, "One moment …");
  }

  /** Show what an item is near to, and the model's opinion on it. */
  async function look(item) {
    map.mark(item.item);
    const [near, edges] = await Promise.all([ask("near", { item: item.item }), ask("edges", { item: item.item })]);
    if (itemBox.dataset.item !== String(item.item)) return;
    if (edges.ok) map.mark(item.item, edges.body.links);
    if (!near.ok) return;
    item.guess = near.body.guess;
    nearList.replaceChildren(...near.body.near.map((other) => nearby(other)));
    showPrediction(item);
  }

  function nearby(other) {
    const place = state.classes.findIndex((each) => each.name === (other.label ?? (state.shows ? other.guess?.[0] : null)));
    const word = other.label ?? (state.shows && other.guess ? `${other.guess[0]}? ${percent(other.guess[1])} %` : "");
    const content = thumbnail(other.item) ?? h("span", { class: "line" }, other.line);
    const mark = h("span", { class: "mark" }, word);
    if (place >= 0) mark.style.setProperty("--class", colourOf(place));
    mark.classList.toggle("given", Boolean(other.label));
    return h("li", {}, h("button", { type: "button", onclick: () => visit(other.item), "aria-label": state.settings.kind === "image" ? `${other.line}, ${word}` : undefined }, content, mark));
  }

  function thumbnail(node) {
    if (state.settings.kind !== "image") return null;
    const image = h("img", { alt: "", loading: "lazy" });
    Promise.resolve(model.get("images")(node)).then((address) => (image.src = address));
    return image;
  }

  async function visit(node) {
    const answer = await ask("item", { item: node });
    if (!answer.ok) return;
    state.prepared.delete(node);
    state.visiting = prepare(answer.body);
    show();
  }

  function leave() {
    state.visiting = null;
    state.place = -1;
    show();
  }

  // ---- classes -----------------------------------------------------------------------------------
  function showClasses() {
    const known = [...classBar.querySelectorAll(".class")].map((chip) => chip.dataset.name);
    if (known.join("\n") === state.classes.map((each) => each.name).join("\n") && known.length) {
      state.classes.forEach((each, i) => (classBar.children[i].querySelector(".count").textContent = each.labels));
      return;
    }
    classBar.replaceChildren(
      ...state.classes.map((each, place) => {
        const chip = h(
          "button",
          { type: "button", class: "class", "data-name": each.name, onclick: () => decide(each.name) },
          h("kbd", {}, each.key || "·"),
          h("span", { class: "class-name" }, each.name),
          h("span", { class: "count", "aria-label": "labels" }, each.labels),
        );
        chip.style.setProperty("--class", colourOf(place));
        return chip;
      }),
      button("+ class", openClass, { class: "quiet add", title: "n" }),
    );
  }

  function markClass(label) {
    for (const chip of classBar.querySelectorAll(".class")) chip.classList.toggle("chosen", chip.dataset.name === label);
  }

  function showPrediction(item) {
    for (const chip of classBar.querySelectorAll(".class")) {
      chip.classList.toggle("likely", state.shows && item?.guess?.[0] === chip.dataset.name);
    }
    if (state.shows && item?.guess) itemNote.textContent += ` · model: ${item.guess[0]}, ${percent(item.guess[1])} %`;
  }

  function togglePrediction() {
    state.shows = !state.shows;
    root.querySelector("#prediction").setAttribute("aria-pressed", String(state.shows));
    const item = state.visiting ?? state.desk[0];
    if (!item) return;
    show();
    look(item);
  }

  // ---- decisions ---------------------------------------------------------------------------------
  const isEarly = () => performance.now() - state.shownAt < QUIET;

  function decide(label) {
    const item = state.visiting ?? state.desk[0];
    if (!item || isEarly()) return;
    const seconds = (performance.now() - state.shownAt) / 1000;
    post({ do: "label", item: item.item, label, seconds, chosen: Boolean(state.visiting) });
    say(`${label}, item ${item.id}`);
    forward(item);
  }

  function skip(note) {
    const item = state.visiting ?? state.desk[0];
    if (!item || isEarly()) return;
    post({ do: "skip", item: item.item, note, chosen: Boolean(state.visiting) });
    forward(item);
  }

  function forward(item) {
    state.prepared.delete(item.item);
    state.desk = state.desk.filter((each) => each.item !== item.item);
    if (state.visiting) leave();
    else show();
  }

  // Labels wait here until the journal has them, even if the tab is closed meanwhile.
  let outbox = [];
  const store = () => `gpgc-outbox-${state.settings.session}`;
  const keep = () => {
    try {
      localStorage.setItem(store(), JSON.stringify(outbox));
    } catch {
      // a notebook may forbid it; the outbox then lives as long as the cell
    }
  };

  function post(event) {
    outbox.push({ event: crypto.randomUUID(), ...event });
    keep();
    showStatus();
    deliver();
  }

  async function deliver() {
    if (state.sending || !outbox.length || state.stopped) return;
    state.sending = true;
    const event = outbox[0];
    const answer = await ask("events", event);
    state.sending = false;
    if (answer.ok) {
      outbox.shift();
      if (event.do !== "label" && event.do !== "skip") state.moved = true;
      keep();
      state.connected = true;
      if (!state.stopped) warn("");
      take(answer.body);
    } else if (answer.status && answer.status < 500) {
      outbox.shift();
      keep();
      warn(answer.body.problem);
    } else {
      state.connected = answer.status > 0;
      warn(`Not saved: ${answer.body?.problem ?? "the server does not answer."} The label is kept here and sent again.`);
      showStatus();
      setTimeout(deliver, 700);
      return;
    }
    showStatus();
    if (outbox.length) deliver();
    else {
      refill();
      soon("history", showHistory, 60);
    }
  }

  function take(body) {
    state.labels = body.labels ?? state.labels;
    if (body.phase && body.phase !== state.phase) {
      state.phase = body.phase;
      if (!state.desk.length && !state.visiting) show();
      soon("estimate", showEstimate, 0);
    }
    if (body.classes) {
      state.classes = body.classes;
      showClasses();
    }
    showStatus();
  }

  let refilling = false;
  let outdated = false;
  async function refill() {
    outdated = refilling;
    if (refilling || outbox.length) return;
    refilling = true;
    const answer = await ask("next", { n: AHEAD });
    refilling = false;
    if (outdated) return refill();
    if (!answer.ok || outbox.length) {
      if (!answer.ok && answer.status) warn(answer.body.problem);
      return;
    }
    take(answer.body);
    // what is looked at stays, unless an undo or a closing audit put something else before it
    const [current] = state.moved ? [] : state.desk;
    const others = answer.body.items.filter((each) => each.item !== current?.item).map(prepare);
    state.desk = current ? [current, ...others] : others;
    state.moved = false;
    if (!state.visiting) show();
    if (!state.desk.length && state.phase === "labelling" && state.labels < state.settings.nodes) setTimeout(refill, 400);
  }

  // ---- history -----------------------------------------------------------------------------------
  async function showHistory() {
    const answer = await ask("history");
    if (!answer.ok) return;
    state.entries = answer.body.entries;
    undoButton.disabled = !answer.body.can_undo;
    redoButton.disabled = !answer.body.can_redo;
    history.replaceChildren(
      ...state.entries.slice(0, 20).map((entry) => {
        const place = state.classes.findIndex((each) => each.name === entry.label);
        const mark = h("span", { class: "mark given" }, entry.do === "skip" ? "skipped" : entry.label);
        if (place >= 0) mark.style.setProperty("--class", colourOf(place));
        return h("li", {}, h("button", { type: "button", onclick: () => visit(entry.item) }, thumbnail(entry.item), h("span", { class: "line" }, entry.line), mark));
      }),
    );
    history.dataset.count = answer.body.count;
  }

  function walk(step) {
    const place = Math.min(state.place + step, state.entries.length - 1);
    if (place < 0) return leave();
    state.place = place;
    visit(state.entries[place].item);
  }

  // ---- how good it is ----------------------------------------------------------------------------
  async function showEstimate() {
    const answer = await ask("estimate");
    if (!answer.ok) return;
    const found = answer.body;
    const { interval, certificate } = found;
    const target = state.settings.target;
    const lines = [];
    if (certificate) {
      const { right, answered, skipped, of, low, high } = certificate;
      const done = answered + skipped === of;
      lines.push(
        h("p", { class: "big" }, done ? `${percent(right / Math.max(answered, 1))} % right` : `${answered + skipped} of ${of} audited`),
        h(
          "p",
          {},
          done
            ? `Measured: ${right} of ${answered} fresh random items, 95 % interval ${percent(low)} to ${percent(high)} %${skipped ? `, ${skipped} skipped` : ""}.`
            : "Closing audit: the model is frozen; these are fresh random items.",
        ),
      );
    } else if (interval) {
      lines.push(
        h("p", { class: "big" }, `About ${percent(interval.mean)} % of the rest right`),
        h("p", {}, `Estimate, ${percent(interval.low)} to ${percent(interval.high)} %, from ${found.audit[1]} random items that the model never learns from${found.audit_skipped ? ` (${found.audit_skipped} more skipped)` : ""}.`),
      );
      if (target) lines.push(h("p", {}, interval.low >= target ? `Target of ${percent(target)} % reached.` : `Target: ${percent(target)} % at the lower end.`));
    } else {
      const word = found.explained > 0.7 ? "well" : found.explained > 0.35 ? "partly" : "hardly";
      lines.push(
        h("p", { class: "big muted" }, "Too early to say"),
        h("p", {}, state.labels ? `The items are ${word} covered by now. A number appears after five random items.` : "Label the first items; a number appears after five random ones."),
      );
    }
    if (interval) lines.push(h("p", { class: "muted" }, `${percent(found.coverage)} % of items are clear (one class at 90 %) · the last answer changed ${found.changed.toLocaleString("en")}`));
    figure.replaceChildren(...lines);
    short.textContent = certificate ? "" : interval ? `estimate ${percent(interval.mean)} % (${percent(interval.low)}–${percent(interval.high)})` : "";
    curve.replaceChildren(...(interval ? [drawCurve(found.curve.filter((point) => point.interval), target)] : []));
    const open = found.per_class.filter((each) => each.labels && !each.audited && interval);
    perClass.replaceChildren(
      h(
        "details",
        {},
        h("summary", {}, "By class", open.length ? ` · ${count(open.length, "class", "classes")} without a random item` : ""),
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ["class", "labels", "share", "audit"].map((name) => h("th", { scope: "col" }, name)))),
          h(
            "tbody",
            {},
            found.per_class.map((each) =>
              h("tr", {}, h("th", { scope: "row" }, each.name), h("td", {}, each.labels), h("td", {}, `${percent(each.predicted)} %`), h("td", {}, each.audited ? `${each.hits} of ${each.audited}` : "none")),
            ),
          ),
        ),
      ),
    );
    finishButton.textContent = found.phase === "labelling" ? "Finish" : "Audit";
  }

  // ---- the map -----------------------------------------------------------------------------------
  async function showLayout() {
    if (!map.works) return;
    const answer = await ask("layout");
    const bytes = answer.data;
    if (!answer.ok || !bytes?.byteLength) return;
    map.place(new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
    showColours();
  }

  async function showColours() {
    if (!map.works) return;
    const answer = await ask("colours");
    const bytes = answer.data;
    if (answer.ok && bytes) map.colour(new Uint8Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
  }

  // ---- news --------------------------------------------------------------------------------------
  const timers = new Map();
  /** Do something once, a little later, however often it is asked for meanwhile. */
  function soon(name, work, delay) {
    if (timers.has(name)) return;
    timers.set(name, setTimeout(() => {
      timers.delete(name);
      work();
    }, delay));
  }

  function hear(news, about) {
    if (!state.settings) return;
    if (about.progress) {
      state.settings.progress = about.progress;
      progressBar.value = about.progress[0];
      progressText.textContent = `${about.progress[1]} …`;
    }
    const wait = state.settings.nodes > 200000 ? 2000 : 250;
    if (news === "lost") {
      if (!state.stopped) state.connected = false;
      if (outbox.length) warn("Not saved: the server does not answer. The label is kept here and sent again.");
      showStatus();
    } else if (news === "hello") {
      if (!state.connected || state.stopped) {
        state.connected = true;
        state.stopped = false;
        warn("");
        deliver();
      }
      if (about.layout !== state.layout) soon("layout", showLayout, 0);
      state.layout = about.layout;
      soon("colours", showColours, wait);
      soon("estimate", showEstimate, 100);
      if (!outbox.length) refill();
    } else if (news === "ready" || news === "queue") {
      if (!state.desk.length) soon("refill", refill, 0);
    } else if (news === "opinion") {
      soon("colours", showColours, wait);
      soon("estimate", showEstimate, 250);
    } else if (news === "estimate") soon("estimate", showEstimate, 50);
    else if (news === "layout") {
      state.layout = about.layout;
      soon("layout", showLayout, 50);
    } else if (news === "saved") {
      if (!outbox.length) {
        take(about);
        soon("history", showHistory, 150);
      }
    } else if (news === "failure") start();
    else if (news === "stopping") {
      state.stopped = true;
      warn(outbox.length ? `The server stopped; ${count(outbox.length, "label")} not saved yet. Start it again.` : "Stopped; all labels saved.");
    }
  }

  // ---- dialogs -----------------------------------------------------------------------------------
  function open(title, ...content) {
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
    open("Keys", h("dl", { class: "keys" }, KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])));
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
        if (name) post({ do: "class", label: name });
        dialog.close();
      }, field, h("button", { class: "strong" }, "Add")),
    );
    field.focus();
  }

  function openSearch() {
    const field = h("input", { type: "search", "aria-label": "Search items by name", autocomplete: "off" });
    const list = h("ul", { class: "found" });
    const look = async () => {
      const answer = await ask("search", { q: field.value });
      if (!answer.ok) return;
      list.replaceChildren(...answer.body.found.map((each) => {
        const open = () => {
          dialog.close();
          visit(each.item);
        };
        const line = each.line === each.id ? null : h("span", { class: "muted" }, ` ${each.line}`);
        return h("li", {}, h("button", { type: "button", class: "quiet", onclick: open }, h("b", {}, each.id), line));
      }));
    };
    field.addEventListener("input", () => soon("search", look, 120));
    open("Search", form(() => list.querySelector("button")?.click(), field), list);
    field.focus();
  }

  function openFinish() {
    if (state.phase !== "labelling") {
      open(
        "Closing audit",
        h("p", {}, "Go on labelling? The answers of the audit become labels like all others."),
        form(() => {
          post({ do: "continue" });
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
        post({ do: "finish", n: Number(field.value) });
        dialog.close();
      }, field, h("button", { class: "strong" }, "Begin the audit")),
    );
    field.focus();
  }

  function openLasso() {
    const nodes = state.lasso.slice(0, 200);
    if (!nodes.length) return say("No items in the lasso; draw one on the map with Shift + drag.");
    open(
      `Label ${count(nodes.length, "item")}`,
      h("p", {}, state.lasso.length > nodes.length ? `The first 200 of ${state.lasso.length}. ` : "", "They count as chosen by you, not as random."),
      h("div", { class: "classes" }, state.classes.map((each) => button(each.name, () => {
        dialog.close();
        for (const item of nodes) post({ do: "label", item, label: each.name, chosen: true });
        state.lasso = [];
      }, { class: "class" }))),
    );
  }

  // ---- keys --------------------------------------------------------------------------------------
  function press(event) {
    if (dialog.open || event.repeat || event.altKey) return; // all fields to type in are in the dialog
    const action = meant(event);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  function meant(event) {
    const { key, shiftKey, target } = event;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !shiftKey) return () => post({ do: "undo" });
      if (key === "y" || (key.toLowerCase() === "z" && shiftKey)) return () => post({ do: "redo" });
      return null;
    }
    if (target === canvas && map.works) {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
      if (step) return () => map.mark(map.towards(...step) ?? map.current);
      if (key === "Enter" && map.current !== null) return () => visit(map.current);
    }
    const digit = /^Digit(\d)$/.exec(event.code)?.[1] ?? (/^\d$/.test(key) ? key : null);
    const wanted = digit ? (shiftKey ? `⇧${digit}` : digit) : key;
    const found = state.classes.find((each) => each.key === wanted);
    if (found) return () => decide(found.name);
    if (digit) return null;
    return {
      Backspace: () => post({ do: "undo" }),
      n: openClass,
      s: () => skip(),
      u: () => skip("unsure"),
      p: togglePrediction,
      m: () => canvas.focus(),
      b: openLasso,
      "/": openSearch,
      "?": openHelp,
      F: openFinish,
      ArrowLeft: () => walk(1),
      ArrowRight: () => walk(-1),
      Escape: leave,
    }[key];
  }

  const keys = model.get("keys") ?? root;
  keys.addEventListener("keydown", press);
  if (keys === root) {
    root.tabIndex = 0;
    root.addEventListener("pointerup", (event) => event.target.closest("button, input, a, canvas") || root.focus());
  }

  // ---- the beginning -----------------------------------------------------------------------------
  async function start() {
    const answer = await ask("session");
    if (!answer.ok) {
      warn(answer.body?.problem ?? "The server does not answer.");
      setTimeout(start, 1000);
      return;
    }
    state.settings = answer.body;
    state.phase = answer.body.phase;
    state.classes = answer.body.classes;
    state.labels = answer.body.labels;
    const who = model.get("by");
    titleText.textContent = ["gpgc", answer.body.title, who].filter(Boolean).join(" · ");
    root.dataset.kind = answer.body.kind;
    if (answer.body.failure) warn(`The model failed: ${answer.body.failure}`);
    progressBar.value = answer.body.progress[0];
    progressText.textContent = `${answer.body.progress[1]} …`;
    try {
      const left = JSON.parse(localStorage.getItem(store()) || "[]");
      outbox = [...left.filter((event) => !outbox.some((each) => each.event === event.event)), ...outbox];
    } catch {
      outbox = [...outbox];
    }
    showClasses();
    showStatus();
    show();
    if (outbox.length) deliver();
    else refill();
    showHistory();
    showEstimate();
    showLayout();
    if (!state.classes.length) openClass();
  }
  start();
  return () => keys.removeEventListener("keydown", press);
}

export default { render };
