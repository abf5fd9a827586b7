/** Reads vectors from standard input, one a line, and prints what is found for each. */

import { createInterface } from "node:readline";

import { find } from "./find.js";

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await find(JSON.parse(line)))}\n`);
}
