import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import outbox from "../../src/gpgc/labelling/page/outbox.js";
import { fakePage, turns } from "./page.js";

const kept = new Map();
beforeEach(() => {
  kept.clear();
  globalThis.localStorage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
});

/** A page whose server answers events by a function, and a desk of these items. */
function open(answer, items = [8], state = {}) {
  const sent = [];
  const page = fakePage({
    state,
    ask: async (route, args) => {
      sent.push([route, args]);
      if (route === "events") return answer(args);
      return { ok: true, status: 200, body: { items: items.map((item) => ({ item })), labels: 1 } };
    },
    prepare: (data) => ({ ...data, prepared: true }),
  });
  return { sent, page, ...outbox(page) };
}

const events = (sent) => sent.filter(([route]) => route === "events").map(([, event]) => event);
const saved = () => ({ ok: true, status: 200, body: { labels: 1 } });

test("an event is kept until the journal has it, then the next items are asked for", async () => {
  let answer;
  const { page, post, sent } = open(() => new Promise((resolve) => (answer = resolve)), [7]);
  post({ do: "label", item: 3, label: "a" });
  assert.equal(JSON.parse(kept.get("gpgc-outbox-s")).length, 1);
  assert.ok(page.state.outbox[0].event, "it has a name of its own");
  answer(saved());
  await turns();
  assert.deepEqual(page.state.outbox, []);
  assert.equal(kept.get("gpgc-outbox-s"), "[]");
  assert.deepEqual(page.state.desk.map((each) => each.item), [7]);
  assert.equal(sent.at(-1)[0], "next");
});

test("events go one after the other, in their order", async () => {
  const { post, sent } = open(saved);
  for (const item of [1, 2, 3]) post({ do: "label", item, label: "a" });
  await turns(20);
  assert.deepEqual(events(sent).map((each) => each.item), [1, 2, 3]);
});

test("what the server cannot take is kept and sent again under its name", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let isUp = false;
  const { page, post, sent } = open(() => (isUp ? saved() : { ok: false, status: 0, body: { problem: "no" } }));
  post({ do: "label", item: 1, label: "a" });
  await turns();
  assert.equal(page.state.connected, false);
  assert.match(page.called("warn").at(-1)[0], /^Not saved/);
  isUp = true;
  mock.timers.tick(1000);
  await turns();
  mock.timers.reset();
  assert.equal(page.state.outbox.length, 0);
  const [first, again] = events(sent);
  assert.equal(first.event, again.event);
});

test("what is refused is said and not sent again", async () => {
  const { page, post, sent } = open(() => ({ ok: false, status: 409, body: { problem: "was labelled b" } }));
  post({ do: "label", item: 1, label: "a" });
  await turns();
  assert.deepEqual(page.state.outbox, []);
  assert.deepEqual(page.called("warn").at(-1), ["was labelled b"]);
  assert.equal(events(sent).length, 1);
});

test("a closed tab's events are taken up, each once", () => {
  const { page, recover } = open(saved, [8], { outbox: [{ event: "b", do: "label" }] });
  kept.set("gpgc-outbox-s", JSON.stringify([{ event: "a", do: "label" }, { event: "b", do: "label" }]));
  recover();
  assert.deepEqual(page.state.outbox.map((each) => each.event), ["a", "b"]);
});

test("what is looked at stays in front when the desk is filled up, unless it is gone", async () => {
  const stays = open(saved, [9, 4, 5], { desk: [{ item: 4 }] });
  await stays.refill();
  assert.deepEqual(stays.page.state.desk.map((each) => each.item), [4, 9, 5]);
  const gone = open(saved, [9, 5], { desk: [{ item: 4 }] });
  await gone.refill();
  assert.deepEqual(gone.page.state.desk.map((each) => each.item), [9, 5]);
});

test("another phase begins without the items that the last one left", async () => {
  const finished = { ok: true, status: 200, body: { phase: "closing" } };
  const { page, post } = open(() => finished, [5], { desk: [{ item: 4 }] });
  const shown = () => page.called("show").length;
  const { take } = outbox(page);
  take({ phase: "labelling" });
  assert.deepEqual([page.state.desk.length, shown()], [1, 0]);
  take({ phase: "closing" });
  assert.deepEqual([page.state.desk.length, shown()], [0, 1], "no key is meant for what was there");
  post({ do: "label", item: 4, label: "a" });
  await turns();
  assert.deepEqual(page.state.desk.map((each) => each.item), [5]);
});

test("what is refused after a pause stays on the screen when news come again", async () => {
  const { page, post } = open(() => ({ ok: false, status: 409, body: { problem: "was labelled b" } }), [8], { connected: false });
  post({ do: "label", item: 1, label: "a" });
  await turns();
  assert.equal(page.state.connected, true, "or what it says would go with the next news");
});
