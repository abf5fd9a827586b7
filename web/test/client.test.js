/** Taking part: rules of the diary, the same bytes only, and what a hostile role may serve. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { isSumAbove } from "../src/diary.js";
import { fileStorage } from "../src/file-storage.js";
import { answer, deliver, deliverUntilAnswered, memoryStorage, Refusal } from "../src/index.js";
import { makeRole, makeRound, makeSigner, rotationNote, vector } from "./crowd.js";

const round = await makeRound();

function given(role, more = {}) {
  return {
    trust: { fingerprint: round.fingerprint },
    storage: memoryStorage(),
    consent: () => true,
    clock: () => 1010,
    atOnce: true,
    fetch: role.fetch,
    ...more,
  };
}

async function refuses(promise, reason) {
  await assert.rejects(promise, (error) => {
    assert(error instanceof Refusal, String(error?.stack));
    assert.equal(error.reason, reason, error.message);
    return true;
  });
}

/** One attempt made the bundle; others were refused, or were given the same bundle. */
async function checkOneBundle(options, settled) {
  const { entries } = await pagesOf(options.storage);
  assert.equal(entries.length, 1);
  const bundles = settled.filter((one) => one.status === "fulfilled").map((one) => one.value.bundle);
  assert(bundles.length >= 1);
  assert.deepEqual([...new Set(bundles)], [entries[0].bundle]);
  const reasons = settled.filter((one) => one.status === "rejected").map((one) => one.reason.reason);
  assert(reasons.every((reason) => reason === "round-answered"), String(reasons));
}

const pagesOf = (storage) => storage.update((pages) => structuredClone(pages));

test("an answer is charged, stored, and sent once", async () => {
  const role = makeRole(round);
  const options = given(role);
  const entry = await answer(round.url, "Zürich", options);
  assert.equal(entry.state, "pending");
  assert.equal(role.bodies.length, 0);
  const sent = await deliverUntilAnswered(entry, options);
  assert.deepEqual([sent.state, sent.bundle, sent.tries], ["taken", null, 1]);
  assert.equal(role.bodies.length, 1);
  assert.equal(role.bodies[0].length / 2, 4 * round.contract.envelope_bytes[0][0]);
  assert.equal((await deliver(sent, options)).state, "taken");
  assert.equal(role.bodies.length, 1);
  await refuses(answer(round.url, "none", options), "round-answered");
});

test("what fails is sent again as the same bytes, and a refusal never", async () => {
  let now = 1010;
  const lost = () => {
    throw new TypeError("network");
  };
  const role = makeRole(round, [503, lost, 429, 500, 201]);
  const options = given(role, { clock: () => now, sleep: async (seconds) => (now += seconds) });
  const entry = await answer(round.url, "Zürich", options);
  assert.equal((await deliverUntilAnswered(entry, options)).state, "taken");
  assert.equal(role.bodies.length, 5);
  assert.equal(new Set(role.bodies).size, 1);
  for (const status of [400, 403, 410]) {
    const refusing = makeRole(round, [status]);
    const once = given(refusing);
    const refused = await deliverUntilAnswered(await answer(round.url, "none", once), once);
    assert.deepEqual([refused.state, refused.status], ["refused", status]);
    assert.equal(refusing.bodies.length, 1);
  }
});

test("a full round is not asked again", async () => {
  const full = () => new Response(null, { status: 429, headers: { "Retry-After": "3650" } });
  const role = makeRole(round, [full]);
  const options = given(role);
  const refused = await deliverUntilAnswered(await answer(round.url, "none", options), options);
  assert.deepEqual([refused.state, refused.status, refused.bundle], ["refused", 429, null]);
  assert.equal((await deliver(refused, options)).state, "refused");
  assert.equal(role.bodies.length, 1);
});

test("a role says when to send again, in seconds or as a date", async () => {
  for (const [after, due] of [["7", 1017], [new Date(1025e3).toUTCString(), 1025], ["0", 1035], ["soon", 1035]]) {
    const busy = () => new Response(null, { status: 503, headers: { "Retry-After": after } });
    const options = given(makeRole(round, [busy]), { clock: () => 1010 });
    const entry = await deliver(await answer(round.url, "none", options), options);
    assert.deepEqual([entry.state, entry.due], ["pending", due], after);
  }
});

test("nothing is sent before it is due, nor after the close", async () => {
  let now = 1010;
  const role = makeRole(round);
  const options = given(role, { atOnce: false, clock: () => now });
  const entry = await answer(round.url, "none", options);
  assert(entry.due >= 1010 && entry.due < 1060);
  if (entry.due > 1010) assert.equal((await deliver(entry, options)).tries, 0);
  now = 1060;
  const over = await deliver(entry, options);
  assert.deepEqual([over.state, over.bundle, role.bodies.length], ["over", null, 0]);
});

test("the times of sending are spread over the window", async () => {
  const due = [];
  for (let i = 0; i < 60; i++) {
    due.push((await answer(round.url, "none", given(makeRole(round), { atOnce: false }))).due);
  }
  // Fewer than 20 of 50 seconds by chance: below 10^-6.
  assert(new Set(due).size >= 20);
});

test("a page that ends while it draws sends nothing, ever", async () => {
  const options = given(makeRole(round));
  const words = {
    next: () => {
      throw new Error("closed");
    },
  };
  await assert.rejects(answer(round.url, "none", { ...options, words }), /closed/);
  const [entry] = (await pagesOf(options.storage)).entries;
  assert.deepEqual([entry.state, entry.bundle], ["drawing", null]);
  await refuses(answer(round.url, "none", options), "round-answered");
  assert.equal((await deliver(entry, options)).state, "drawing");
});

test("two tabs send one bundle", async () => {
  const role = makeRole(round);
  const options = given(role);
  const both = await Promise.allSettled([
    answer(round.url, "Zürich", options),
    answer(round.url, "none", options),
  ]);
  await checkOneBundle(options, both);
});

test("a pending bundle is returned, whatever is answered later", async () => {
  const options = given(makeRole(round));
  const first = await answer(round.url, "Zürich", options);
  assert.deepEqual(await answer(round.url, "none", options), first);
});

test("nothing is charged without consent, or for a value outside the question", async () => {
  const options = given(makeRole(round));
  await refuses(answer(round.url, "Zürich", { ...options, consent: () => false }), "no-consent");
  await refuses(answer(round.url, "Bern", options), "value-outside-labels");
  await refuses(answer(round.url, null, options), "no-answer");
  assert.deepEqual(await pagesOf(options.storage), { charges: [], entries: [] });
});

test("only what is trusted is answered", async () => {
  const role = makeRole(round);
  const other = await makeRound();
  const foreign = { ...round, note: other.note, sheet: other.sheet };
  const trust = (more) => given(role, { trust: more });
  await refuses(answer(round.url, "none", trust({})), "nothing-pinned");
  const collector = { keys: [round.contract.collector.key] };
  await refuses(answer(round.url, "none", trust(collector)), "nothing-pinned");
  await refuses(answer(round.url, "none", given(makeRole(foreign))), "not-the-pinned-contract");
  const stranger = { keys: [other.contract.hops[0].key] };
  await refuses(answer(round.url, "none", trust(stranger)), "not-the-pinned-key");
  const known = trust({ keys: [round.contract.hops[1].key] });
  assert.equal((await answer(round.url, "none", known)).state, "pending");
  const { fingerprint } = round;
  const limits = trust({ fingerprint, limits: { epsilon: 0.5 } });
  await refuses(answer(round.url, "none", limits), "above-own-limit");
  const poor = trust({ fingerprint, budget: { epsilon: 0.9, delta: 1 } });
  await refuses(answer(round.url, "none", poor), "budget-passed");
});

test("a limit that is misspelt or no number is an error of the program", async () => {
  const { fingerprint } = round;
  for (const wrong of [
    { limits: { hop: 3 } },
    { limits: { delta: "1e-6" } },
    { limits: { protocols: "flip" } },
    { budget: { epsilon: 3 } },
    { budget: { epsilon: 3, delta: Infinity } },
    { limit: {} },
  ]) {
    const options = given(makeRole(round), { trust: { fingerprint, ...wrong } });
    await assert.rejects(answer(round.url, "none", options), TypeError);
    assert.deepEqual(await pagesOf(options.storage), { charges: [], entries: [] });
  }
});

test("a pinned key is followed to the one that replaced it, and never back", async () => {
  const { name } = round.contract.hops[0];
  const [old, thief] = [await makeSigner(name), await makeSigner(name)];
  const next = round.signers[0];
  const pinned = (rotations) => given(makeRole({ ...round, rotations }), { trust: { keys: [old.key] } });
  const note = await rotationNote(name, old, next);
  await refuses(answer(round.url, "none", pinned([])), "not-the-pinned-key");
  const alone = await rotationNote(name, old, next, [next]);
  await refuses(answer(round.url, "none", pinned([alone])), "signature-missing");
  const other = await rotationNote(name, old, thief);
  await refuses(answer(round.url, "none", pinned([other])), "not-the-pinned-key");
  await refuses(answer(round.url, "none", pinned([note, other])), "rotated-twice");
  const options = pinned([note]);
  assert.equal((await answer(round.url, "none", options)).state, "pending");
  const { rotations } = await pagesOf(options.storage);
  assert.deepEqual(rotations, [[old.key, next.key]]);
  // The diary is enough from now on, and what a thief of the old key signs is refused.
  const later = { ...pinned([]), storage: options.storage };
  assert.equal((await answer(round.url, "none", later)).state, "pending");
  const forged = await makeRound(undefined, undefined, old);
  await refuses(
    answer(forged.url, "none", { ...options, fetch: makeRole(forged).fetch }),
    "not-the-pinned-key",
  );
});

test("a sheet that not all roles signed is refused", async () => {
  for (let left = 0; left < round.signers.length; left++) {
    const by = round.signers.filter((_, i) => i !== left);
    const hostile = { ...round, sheet: await round.signSheet({}, by) };
    await refuses(answer(round.url, "none", given(makeRole(hostile))), "signature-missing");
  }
  const shown = { ...round, sheet: await round.signSheet({ round: 2 }) };
  await refuses(answer(round.url, "none", given(makeRole(shown))), "round-out-of-range");
});

test("a second sheet of a round is refused, and named", async () => {
  const options = given(makeRole(round));
  await answer(round.url, "none", options);
  const second = makeRole({ ...round, sheet: await round.signSheet({ expires: 3000 }) });
  await refuses(answer(round.url, "none", { ...options, fetch: second.fetch }), "another-sheet");
  // A later contract of this name has another sheet, which accuses nobody once the first was sent.
  const later = await makeRound(undefined, (contract) => (contract.serial = 2));
  const more = { ...options, trust: { fingerprint: later.fingerprint }, fetch: makeRole(later).fetch };
  await refuses(answer(later.url, "none", more), "another-sheet");
  await options.storage.update(({ entries }) => (entries[0].state = "taken"));
  await refuses(answer(later.url, "none", more), "round-answered");
});

test("a clock outside the window refuses", async () => {
  const at = (time) => given(makeRole(round), { clock: () => time, round: 1 });
  await refuses(answer(round.url, "none", at(999)), "round-not-open");
  await refuses(answer(round.url, "none", at(1060)), "round-over");
  const searching = given(makeRole(round), { clock: () => 5 });
  await refuses(answer(round.url, "none", searching), "round-not-open");
});

test("a round that its role lists as closed is not answered, whatever the clock says", async () => {
  const { fetch } = makeRole(round);
  const listed = { contract: round.fingerprint, round: 1, opens: 1000, closes: 1060, state: "closed" };
  const closed = async (url, given) =>
    url.endsWith("/status") ? new Response(JSON.stringify({ rounds: [listed] })) : fetch(url, given);
  await refuses(answer(round.url, "none", given({ fetch: closed })), "round-not-open");
  listed.state = "open";
  assert.equal((await answer(round.url, "none", given({ fetch: closed }))).state, "pending");
});

test("the same question under another name is refused until it is allowed", async () => {
  const options = given(makeRole(round));
  await answer(round.url, "none", options);
  const other = await makeRound(undefined, (contract) => (contract.name = "another"));
  const there = { trust: { fingerprint: other.fingerprint }, fetch: makeRole(other).fetch };
  const again = { ...options, ...there };
  await refuses(answer(other.url, "none", again), "question-under-another-name");
  assert.equal((await answer(other.url, "none", { ...again, again: true })).state, "pending");
  const { charges } = await pagesOf(options.storage);
  assert.deepEqual(charges.map(({ epsilon }) => epsilon), [1, 1]);
});

test("a role that sends without end, or nothing, is given up", async () => {
  const endless = async () =>
    new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(2 ** 20)) }));
  await refuses(answer(round.url, "none", given({ fetch: endless })), "too-long");
  const nothing = async () => new Response(null, { status: 503 });
  await refuses(answer(round.url, "none", given({ fetch: nothing })), "no-answer-from-role");
  const dead = async () => {
    throw new TypeError("network");
  };
  await refuses(answer(round.url, "none", given({ fetch: dead })), "no-answer-from-role");
  const broken = async () => new Response(new ReadableStream({ pull: (to) => to.error(new TypeError()) }));
  await refuses(answer(round.url, "none", given({ fetch: broken })), "no-answer-from-role");
  const { fetch } = makeRole(round);
  const login = async (url, given) => url.endsWith("/status") ? new Response("<html>") : fetch(url, given);
  await refuses(answer(round.url, "none", given({ fetch: login })), "no-answer-from-role");
});

test("budgets are compared exactly", () => {
  assert(!isSumAbove([0.5, 0.25], 0.75));
  assert(isSumAbove([0.1, 0.2], 0.3)); // 0.1 + 0.2 is above 0.3 as doubles
  assert(isSumAbove([1, 2 ** -1000], 1));
});

test("a diary in a file survives, and is shared", async () => {
  const folder = mkdtempSync(join(tmpdir(), "diary-"));
  const path = join(folder, "diary.json");
  try {
    const options = given(makeRole(round), { storage: fileStorage(path) });
    const tries = Array.from({ length: 4 }, () => {
      return answer(round.url, "none", { ...options, storage: fileStorage(path) });
    });
    const states = await Promise.allSettled(tries);
    await checkOneBundle(options, states);
    assert(!readFileSync(path, "utf8").includes("none"));
    await refuses(answer(round.url, "Zürich", { ...options, round: 1, clock: () => 1061 }), "round-over");
    writeFileSync(path, "{");
    await refuses(fileStorage(path).update(() => 0), "diary-unavailable");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a code is stored with its bundle, sent with every attempt, and forgotten", async () => {
  const coded = await makeRound(undefined, (contract) => (contract.admission = "codes"));
  const { typed, code } = vector("code-in-groups");
  const folder = mkdtempSync(join(tmpdir(), "mixtally-"));
  const storage = fileStorage(join(folder, "diary.json"));
  const role = makeRole(coded, [503, 201]);
  const sent = [];
  const fetch = (url, request) => {
    if (request?.method === "POST") sent.push([url.includes(code), request.headers.authorization]);
    return role.fetch(url, request);
  };
  let now = 1010;
  const more = { trust: { fingerprint: coded.fingerprint }, storage, fetch, clock: () => now };
  const options = given(role, { ...more, code: typed });
  const entry = await answer(coded.url, "Zürich", options);
  assert(readFileSync(join(folder, "diary.json"), "utf8").includes(code));
  const ended = await deliverUntilAnswered(entry, { ...options, sleep: () => (now += 30) });
  assert.equal(ended.state, "taken");
  assert.deepEqual(sent, [[false, `Code ${code}`], [false, `Code ${code}`]]);
  assert(!readFileSync(join(folder, "diary.json"), "utf8").includes(code));
  rmSync(folder, { recursive: true });
});

test("a wrong code is refused before anything is charged", async () => {
  const coded = await makeRound(undefined, (contract) => (contract.admission = "codes"));
  const { typed } = vector("code-as-it-is");
  for (const [of, code, reason] of [
    [coded, undefined, "code-missing"],
    [coded, "", "code-malformed"],
    [coded, `${typed.slice(0, -1)}U`, "code-malformed"],
    [round, typed, "code-not-asked"],
  ]) {
    const role = makeRole(of);
    const options = given(role, { trust: { fingerprint: of.fingerprint }, code });
    await refuses(answer(of.url, "Zürich", options), reason);
    assert.deepEqual(await pagesOf(options.storage), { charges: [], entries: [] });
    assert.equal(role.bodies.length, 0);
  }
});

test("a spent code ends the bundle", async () => {
  const coded = await makeRound(undefined, (contract) => (contract.admission = "codes"));
  const role = makeRole(coded, [409]);
  const trust = { fingerprint: coded.fingerprint };
  const options = given(role, { trust, code: vector("code-as-it-is").typed });
  const ended = await deliverUntilAnswered(await answer(coded.url, "Zürich", options), options);
  assert.deepEqual([ended.state, ended.status, ended.code], ["refused", 409, undefined]);
});
