// Print signed rounds as JSON: a line of standard input names a vector, edits and the window. With
// them go the sheet of the next round, and the manifest by which the first hop destroys this one.
import { createInterface } from "node:readline";

import { digest } from "../src/bytes.js";
import { textOf } from "../src/contract.js";
import { makeRound, signAll } from "./crowd.js";

const text = (bytes) => new TextDecoder().decode(bytes);

for await (const line of createInterface({ input: process.stdin })) {
  const { vector, contract: fields = {}, plan = {}, question = {}, roles = [], sheet = {}, unsigned = null } = JSON.parse(line);
  const round = await makeRound(vector, (contract) => {
    Object.assign(contract, fields);
    Object.assign(contract.plan, plan);
    Object.assign(contract.plan.question, question);
    [...contract.hops, contract.collector].forEach((role, i) => Object.assign(role, roles[i]));
  });
  const by = round.signers.filter((_, i) => i !== unsigned);
  const { contract, fingerprint, note } = round;
  const signed = await round.signSheet(sheet, by);
  const { opens, closes, expires } = { ...round.plain, ...sheet };
  const later = { round: 2, opens: closes, closes: 2 * closes - opens, expires: expires + closes - opens };
  const next = await round.signSheet({ ...sheet, ...later }, by);
  const parts = contract.plan.parts.map(() => {
    return { received: 0, copies: 0, unopened: 0, malformed: 0, added: 0, pieces: [] };
  });
  const destroyed = {
    version: 1, kind: "manifest", sheet: await digest(textOf(signed)), hop: 1, bundles: 1, left_out: 0,
    destroyed: "too-few", before: null, parts, overruled: [], arrivals: [],
  };
  const manifest = await signAll(destroyed, round.signers.slice(0, 1));
  console.log(JSON.stringify({
    contract, fingerprint, note: text(note), sheet: text(signed), next: text(next), manifest: text(manifest),
  }));
}
