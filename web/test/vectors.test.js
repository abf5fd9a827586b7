/** Every vector of the specification, and every refusal by its name. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { find } from "./find.js";

const FOLDER = new URL("../../vectors/", import.meta.url);
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

for (const name of NAMES) {
  test(name, async () => {
    const vector = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
    const found = await find(vector);
    for (const [field, value] of Object.entries(found)) {
      if (field === "unused") assert.equal(value, 0, "words are left");
      else if (field === "delta") assert(Math.abs(value / Number(vector.delta) - 1) < 1e-8);
      else assert.deepEqual(value, vector[field], field);
    }
    assert.equal(found.reason, vector.reason);
  });
}

test("there are vectors", () => assert(NAMES.length > 500));
