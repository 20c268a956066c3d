import assert from "node:assert/strict";
import { test } from "node:test";
import keys from "../../src/gpgc/labelling/page/keys.js";
import { fakePage } from "./page.js";

/** A page that listens, and how to press a key on it. */
function open({ classes = ["a", "b"].map((name, i) => ({ name, key: String(i + 1) })), kind = null, state = {} } = {}) {
  const listeners = [];
  const target = { addEventListener: (name, listener) => listeners.push(listener), removeEventListener() {} };
  const dialog = { open: Boolean(kind), dataset: { kind } };
  const page = fakePage({ state: { classes, ...state }, parts: { root: {}, canvas: {}, dialog }, model: { get: () => target } });
  const part = keys(page);
  Object.assign(page, part);
  part.listenToKeys();
  const press = (key, more = {}) => {
    const event = { key, code: /^\d$/.test(key) ? `Digit${key}` : "", target: {}, shiftKey: false, preventDefault() {}, stopPropagation() {}, ...more };
    const before = page.calls.length;
    listeners[0](event);
    return page.calls.slice(before).map(([name, ...args]) => [name, ...args.filter((each) => each !== undefined)]);
  };
  return { press, keyOf: part.keyOf, page };
}

test("a digit labels, Shift and a digit the second ten, a letter the class that has it", () => {
  const classes = [{ name: "one", key: "1" }, { name: "eleven", key: "⇧1" }, { name: "spam", key: "s" }];
  const { press } = open({ classes });
  assert.deepEqual(press("1"), [["decide", "one"]]);
  assert.deepEqual(press("!", { code: "Digit1", shiftKey: true }), [["decide", "eleven"]]);
  assert.deepEqual(press("S".toLowerCase()), [["decide", "spam"]]);
  assert.deepEqual(press("9"), [], "a digit of no class does nothing");
});

test("a key that is held down, or pressed with Alt, is ignored", () => {
  const { press } = open();
  assert.deepEqual(press("1", { repeat: true }), []);
  assert.deepEqual(press("1", { altKey: true }), []);
});

test("a command whose letter a class takes moves to Shift and the letter", () => {
  const { press, keyOf } = open({ classes: [{ name: "spam", key: "s" }] });
  assert.equal(keyOf("s"), "Shift + S");
  assert.equal(keyOf("u"), "u");
  assert.deepEqual(press("S", { shiftKey: true }), [["skip"]]);
  assert.deepEqual(press("u"), [["skip", "unsure"]]);
});

test("undo and redo have the keys that they have everywhere", () => {
  const { press } = open();
  const undo = [["post", { do: "undo" }]];
  const redo = [["post", { do: "redo" }]];
  assert.deepEqual(press("Backspace"), undo);
  assert.deepEqual(press("z", { ctrlKey: true }), undo);
  assert.deepEqual(press("z", { metaKey: true }), undo);
  assert.deepEqual(press("Z", { ctrlKey: true, shiftKey: true }), redo);
  assert.deepEqual(press("y", { ctrlKey: true }), redo);
  assert.deepEqual(press("c", { ctrlKey: true }), [], "the browser's own keys stay its own");
});

test("in a dialog only the keys of that dialog mean something", () => {
  assert.deepEqual(open({ kind: "search" }).press("1"), []);
  assert.deepEqual(open({ kind: "group" }).press("2"), [["labelGroup", "b"]]);
  assert.deepEqual(open({ kind: "review" }).press("Enter"), [["keepIt"]]);
  assert.deepEqual(open({ kind: "review" }).press(" "), [["changeIt"]]);
  assert.deepEqual(open({ kind: "review" }).press("1"), [["labelIt", "a"]]);
  assert.deepEqual(open({ kind: "confirm" }).press("Enter"), [["acceptGroup"]]);
});

test("Esc goes back from a visited item, and else lets go of what was selected", () => {
  assert.deepEqual(open({ state: { visiting: { item: 1 } } }).press("Escape"), [["leave"]]);
  assert.deepEqual(open().press("Escape"), [["clearGroup"], ["enlarge", false]]);
});
