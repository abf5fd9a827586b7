/**
 * Many people who answer in one process of Node, each with a diary in memory. `survey.py` uses it.
 *
 *     node survey_crowd.js CONTRACT_URL FINGERPRINT < values    # a value in each line
 *
 * Prints the number of people in each state of the diary, as JSON.
 */

import { argv, stdin, stdout } from "node:process";
import { text } from "node:stream/consumers";

import { answer, deliverUntilAnswered } from "../web/src/index.js";
import { memoryStorage } from "../web/src/diary.js";

/** The number of people who answer at the same time. */
const AT_ONCE = 16;

const [, , url, fingerprint] = argv;
const values = (await text(stdin)).trim().split("\n");
/** @type {Record<string, number>} */
const states = {};

/** @param {string} value */
async function answerOnce(value) {
  const options = { trust: { fingerprint }, storage: memoryStorage(), consent: () => true, atOnce: true };
  const { state } = await deliverUntilAnswered(await answer(url, value, options), options);
  states[state] = (states[state] ?? 0) + 1;
}

async function answerInTurn() {
  for (let value = values.pop(); value !== undefined; value = values.pop()) await answerOnce(value);
}

await Promise.all(Array.from({ length: AT_ONCE }, answerInTurn));
stdout.write(`${JSON.stringify(states)}\n`);
