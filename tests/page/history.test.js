import assert from "node:assert/strict";
import { test } from "node:test";
import history from "../../src/gpgc/labelling/page/history.js";
import { fakePage } from "./page.js";

test("the arrows go back through what was decided, and out of it again", () => {
  const page = fakePage({ state: { entries: [{ item: 30 }, { item: 20 }, { item: 10 }] } });
  const { walk } = history(page);
  walk(1);
  walk(1);
  walk(1);
  walk(1); // there is nothing before the first
  walk(-1);
  assert.deepEqual(page.called("visit").flat(), [30, 20, 10, 10, 20]);
  walk(-1);
  walk(-1);
  assert.equal(page.called("leave").length, 1);
});
