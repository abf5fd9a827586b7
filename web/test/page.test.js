/** The page without a browser: its texts, and numbers that never promise too much. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

import { oneIn, promiseSentences, roundUp, sendingSentences, sumUp } from "../page/promise.js";
import { TEXTS } from "../page/texts.js";
import { readContract } from "../src/contract.js";
import { toRatio } from "../src/ratio.js";
import { utf8 } from "../src/bytes.js";
import { vector } from "./crowd.js";

const named = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("both languages have the same texts, with the same names in them", () => {
  assert.deepEqual(Object.keys(TEXTS.de), Object.keys(TEXTS.en));
  for (const [key, text] of Object.entries(TEXTS.en)) {
    assert.deepEqual(named(TEXTS.de[key]), named(text), key);
    assert(TEXTS.de[key] !== text || key.startsWith("mix"), key);
  }
});

test("numbers are rounded up, by less than one unit of the last digit", () => {
  let state = 1n;
  for (let i = 0; i < 3000; i++) {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
    const value = (Number(state % 10n ** 6n) + 1) * 10 ** (Number((state >> 40n) % 20n) - 16);
    const digits = 1 + Number((state >> 20n) % 6n);
    const up = roundUp(value, digits);
    assert(up >= value && up <= value * (1 + 10 ** (1 - digits)) * (1 + 1e-12), `${value}`);
    assert(String(up.toExponential()).replace(/e.*|\./g, "").length <= digits, `${value} ${up}`);
    assert.equal(roundUp(up, digits), up);
  }
  assert.deepEqual([1, 1e-6, 2.718281828, 0].map((one) => roundUp(one)), [1, 1e-6, 2.72, 0]);
  assert.deepEqual([sumUp([0.1, 0.2]), sumUp([1, 1e-9]), sumUp([])], [0.3, 1.00001, 0]);
});

test("a probability is never said to be smaller than it is", () => {
  for (const value of [1e-6, 1e-5, 1 / 3, 9.9e-7, 1.2345e-9, 0.1, 1]) {
    const [whole, power] = toRatio(value);
    const shown = BigInt(oneIn(value));
    // Equal up to the shortest decimal spelling of a double.
    assert(shown * whole <= power + power / 10n ** 15n, `${value}`);
    assert(shown * whole * 200n >= power * 99n || shown < 1000n, `${value}`);
  }
  assert.deepEqual([1e-6, 1e-5, 0.1].map(oneIn), [1_000_000, 100_000, 10]);
});

test("every contract has a promise, whose sentences are complete", async () => {
  const seen = new Set();
  const names = readdirSync(new URL("../../vectors/", import.meta.url));
  for (const name of names.filter((one) => one.startsWith("messages-"))) {
    const contract = await readContract(utf8(vector(name.slice(0, -5)).contract));
    for (const [key, values] of [...promiseSentences(contract), ...sendingSentences(contract, 10)]) {
      seen.add(key);
      assert.deepEqual(Object.keys(values).sort(), named(TEXTS.en[key]), key);
    }
  }
  for (const key of ["trust-nobody", "trust-any-mix", "trust-first-mix", "promise-collusion"]) {
    assert(seen.has(key), key);
  }
  const contract = await readContract(utf8(vector("messages-flips-of-oneself").contract));
  assert.deepEqual(promiseSentences({ ...contract, plan: { ...contract.plan, collections: 1 } })[2], ["promise-one-round", {}]);
  const plan = { ...contract.plan, local_epsilon: 3.14159, collections: 4, minimum_crowd: 1 };
  const shown = new Map(promiseSentences({ ...contract, plan }));
  assert.deepEqual(shown.get("promise-local"), { local: 3.15 });
  assert.deepEqual(shown.get("promise-rounds"), { rounds: 4 });
  assert(shown.has("no-minimum-crowd") && !shown.has("promise-collusion"));
});
