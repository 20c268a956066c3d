// The page, and the notebook widget: one item, one key, the next item. It speaks with the session
// through `model` alone (anywidget's form), so that both hosts run these files as they are. Each
// idea is a module that is given the page and adds its functions to it.
import classEditor from "./class_editor.js";
import classes from "./classes.js";
import confirm from "./confirm.js";
import decisions from "./decisions.js";
import dialogs from "./dialogs.js";
import estimate from "./estimate.js";
import goal from "./goal.js";
import group from "./group.js";
import history from "./history.js";
import items from "./items.js";
import keys from "./keys.js";
import { NodeMap } from "./map.js";
import legend from "./legend.js";
import news from "./news.js";
import outbox from "./outbox.js";
import { buildParts } from "./parts.js";
import positions from "./positions.js";
import reading from "./reading.js";
import review from "./review.js";
import search from "./search.js";
import suggestion from "./suggestion.js";
import tiles from "./tiles.js";
import words from "./words.js";

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
    if (message.news) return page.hear(message.news, message.about);
    const resolve = waiting.get(message.id);
    waiting.delete(message.id);
    resolve?.({ ...message, data: buffers[0] });
  });

  /** @type {import("./types").State} */
  const state = {
    settings: null,
    classes: [],
    desk: [],
    prepared: new Map(),
    visiting: null,
    queue: [],
    entries: [],
    place: -1,
    shownAt: 0,
    shows: false,
    group: [],
    sending: false,
    connected: true,
    stopped: false,
    labels: 0,
    skipped: 0,
    review: 0,
    goal: null,
    audited: 0,
    certificate: null,
    phase: "labelling",
    layout: 0,
    moved: false,
    outbox: [],
  };

  /** @type {any} Its other functions come from the parts below. */
  const page = { model, ask, state, start };
  page.parts = buildParts(page);
  const { canvas, mapNote, overlay, root, titleText } = page.parts;
  el.append(root);

  const map = page.map = new NodeMap(canvas, overlay, {
    pick: (node) => page.visit(node),
    lasso: (nodes) => page.select(nodes),
    hover: (node, x, y) => page.hover(node, x, y),
  });
  if (!map.works) {
    canvas.hidden = overlay.hidden = true;
    mapNote.textContent = "The map needs WebGL2, which this browser does not offer. Everything else works.";
  }

  for (const part of [words, items, classes, decisions, outbox, history, estimate, positions, news, dialogs, tiles, group, confirm, review, search, suggestion, goal, legend, classEditor, reading, keys]) {
    Object.assign(page, part(page));
  }

  async function start() {
    const answer = await ask("session");
    if (!answer.ok) {
      page.warn(answer.body?.problem ?? "The server does not answer.");
      setTimeout(start, 1000);
      return;
    }
    state.settings = answer.body;
    for (const name of ["phase", "classes", "labels", "skipped", "review"]) state[name] = answer.body[name];
    page.showReviewCount();
    const who = model.get("by");
    titleText.textContent = ["gpgc", answer.body.title, who].filter(Boolean).join(" · ");
    root.dataset.kind = answer.body.kind;
    if (answer.body.failure) page.warn(`The model failed: ${answer.body.failure}`);
    root.querySelector("#guide").hidden = !answer.body.guide;
    page.showProgress(answer.body.progress);
    page.recover();
    page.showClasses();
    page.showStatus();
    page.show();
    if (state.outbox.length) page.deliver();
    else page.refill();
    page.showHistory();
    page.showEstimate();
    page.showLayout();
    if (!state.classes.length) page.openClass();
  }
  start();
  return page.listenToKeys();
}

export default { render };
