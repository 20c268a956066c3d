import assert from "node:assert/strict";
import { test } from "node:test";
import { findClasses } from "../../src/gpgc/labelling/page/classes.js";
import { colourOf } from "../../src/gpgc/labelling/page/dom.js";
import { PALETTE } from "../../src/gpgc/labelling/page/palette.js";

const some = (...names) => names.map((name, place) => ({ name, key: "", labels: 0, place }));

test("a class is found by any part of its name, one that begins with it first", () => {
  const found = findClasses(some("red car", "blue car", "Carpet", "tree"), " CAR");
  assert.deepEqual(found.map((each) => each.name), ["Carpet", "red car", "blue car"]);
});

test("without a text the likely class comes first, then those with most labels", () => {
  const classes = some("a", "b", "c", "d", "e", "f", "g");
  classes[6].labels = 9;
  classes[5].labels = 4;
  const names = findClasses(classes, "", "c").map((each) => each.name);
  assert.deepEqual(names.slice(0, 3), ["c", "g", "f"]);
  assert.equal(new Set(names).size, 7);
});

test("twenty classes have colours that differ, and one may have its own", () => {
  assert.equal(new Set(PALETTE).size, 20);
  const colours = some(...Array.from({ length: 20 }, (_, i) => `c${i}`)).map(colourOf);
  assert.equal(new Set(colours).size, 20);
  assert.equal(colourOf({ ...some("a")[0], colour: "#123456" }), "#123456");
});
