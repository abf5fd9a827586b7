/** Watching: losses are seen between the right roles, and nobody is accused who did nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { digest, fromHex, utf8 } from "../src/bytes.js";
import { readContract, textOf } from "../src/contract.js";
import { answer, checkArrivals, memoryStorage } from "../src/index.js";
import { forgetOldTags } from "../src/diary.js";
import { readManifest } from "../src/manifest.js";
import { slotsOf } from "../src/part.js";
import { mostFakes } from "../src/recipe.js";
import { makeRole, makeRound, signAll } from "./crowd.js";

const round = await makeRound();
const roles = [...round.contract.hops, round.contract.collector];
const names = roles.map(({ name }) => name);

/** A watched entry, and what roles serve whose lists have been changed. */
async function played(
  change = () => {}, silent = [], twice = null, hidden = null, body = (bytes) => bytes,
  edit = (plain) => plain, unsigned = [],
) {
  const storage = memoryStorage();
  const options = { trust: { fingerprint: round.fingerprint }, storage, consent: () => true };
  const more = { clock: () => 1010, atOnce: true, watch: true, fetch: makeRole(round).fetch };
  const entry = await answer(round.url, "Zürich", { ...options, ...more });
  entry.state = "taken";
  const others = Array.from({ length: round.contract.plan.minimum_crowd }, (_, i) =>
    (i + 1).toString(16).padStart(16, "0"));
  const lists = names.map((_, i) => [...new Set(entry.watched.map((tags) => tags[i])), ...others].sort());
  change(lists, entry);
  const files = new Map();
  const notes = [];
  const arrivals = [];
  for (const list of lists) {
    const bytes = fromHex(list.join(""));
    const sha256 = await digest(bytes);
    files.set(sha256, bytes);
    arrivals.push([[{ sha256, tags: list.length }]]);
  }
  const count = lists[1].length;
  let before = null;
  for (const i of roles.keys()) {
    const pieces = [{ sha256: "ab".repeat(32), messages: count }];
    const part = { received: count, copies: 0, unopened: 0, malformed: 0, added: 0, pieces };
    const plain = edit(
      i < roles.length - 1
        ? { version: 1, kind: "manifest", sheet: entry.sheet, hop: i + 1, bundles: lists[0].length,
            left_out: 0, destroyed: null, before, parts: [part], overruled: [], arrivals: arrivals[i] }
        : { version: 1, kind: "receipt", manifest: before, hop: i + 1, arrivals: arrivals[i] },
    );
    const note = await signAll(plain, [round.signers[i]]);
    if (i === twice) {
      const other = await signAll({ ...plain, overruled: [names[0]] }, [round.signers[i]]);
      notes.push(new TextDecoder().decode(other));
    }
    before = await digest(textOf(note));
    const shown = i === hidden ? await signAll({ ...plain, overruled: [names[0]] }, [round.signers[i]]) : note;
    notes.push(new TextDecoder().decode(shown));
  }
  const fetched = [];
  const fetch = async (url) => {
    const role = roles.find(({ address }) => url.startsWith(address));
    if (silent.includes(role.name)) throw new TypeError("network");
    if (url.endsWith("/manifests")) return new Response(JSON.stringify([...notes, ...unsigned]));
    fetched.push(url);
    return new Response(body(files.get(url.split("/").at(-1)) ?? null));
  };
  const kept = () => storage.update((pages) => pages.entries[0]);
  const askAgain = async () => {
    const before = fetched.length;
    await checkArrivals(await kept(), { contract: { ...round.contract, fingerprint: round.fingerprint }, storage, fetch });
    return fetched.slice(before);
  };
  const found = await checkArrivals(entry, { contract: { ...round.contract, fingerprint: round.fingerprint }, storage, fetch });
  const { watched, arrivals: stored } = await kept();
  assert.deepEqual(stored, found);
  return { ...found, kept: watched, entry, fetched, askAgain };
}

const states = ({ roles }) => roles.map(({ state }) => state);

test("a message that arrived everywhere is seen everywhere, and its tags are erased", async () => {
  const found = await played();
  assert.deepEqual(states(found), names.map(() => "yes"));
  assert.deepEqual([found.lost, found.ended, found.kept], [[], null, null]);
  assert(found.entry.watched.every((tags) => tags.length === roles.length));
});

test("a message is lost between two roles", async () => {
  const found = await played((lists, entry) => {
    for (const place of names.keys()) {
      if (place > 1) lists[place] = lists[place].map((tag) => (tag === entry.watched[0][place] ? "00000000000000aa" : tag)).sort();
    }
  });
  assert.deepEqual(states(found).slice(0, 3), ["yes", "yes", "no"]);
  assert.deepEqual(found.lost, [{ after: names[1], before: names[2] }]);
});

test("a list without a message that a later role has received is false", async () => {
  const found = await played((lists, entry) => {
    lists[1] = lists[1].map((tag) => (tag === entry.watched[0][1] ? "00000000000000aa" : tag)).sort();
  });
  assert.deepEqual(found.faults, [{ name: names[1], reason: "message-left-out" }]);
  assert.deepEqual([states(found), found.lost], [names.map((_, i) => (i === 1 ? "no" : "yes")), []]);
});

test("a list that breaks off is no answer, and tags are kept", async () => {
  const broken = (bytes) => new ReadableStream({
    start: (one) => one.enqueue(bytes.subarray(0, 8)),
    pull: (one) => one.error(new TypeError("network")),
  });
  const found = await played(() => {}, [], null, null, broken);
  assert.deepEqual(states(found), names.map(() => "no answer"));
  assert.deepEqual([found.lost, found.faults], [[], []]);
  assert(found.kept);
});

test("a silent role is no loss, and tags are kept", async () => {
  const found = await played(() => {}, [names[1]]);
  assert.deepEqual(states(found), names.map((_, i) => (i === 1 ? "no answer" : "yes")));
  assert.deepEqual(found.lost, []);
  assert(found.kept);
  assert.equal(found.fetched.length, names.length - 1);
  assert.deepEqual(await found.askAgain(), []); // lists that have all messages are not read again
});

test("a bundle that was not confirmed is no loss, also if the first role is silent", async () => {
  const missing = (lists, entry) => {
    entry.state = "over";
    for (const place of names.keys()) lists[place] = lists[place].filter((tag) => !entry.watched.some((tags) => tags[place] === tag));
  };
  for (const silent of [[], [names[0]]]) {
    const found = await played(missing, silent);
    assert.equal(states(found).at(-1), "no");
    assert.deepEqual([found.lost, found.faults], [[], []]);
  }
});

test("a role that has signed two manifests is named, and no other", async () => {
  for (const place of [0, 1]) {
    const found = await played(() => {}, [], place);
    assert.deepEqual(found.faults, [{ name: names[place], reason: "signed-twice" }]);
    const expected = names.map((_, i) => (i < place ? "yes" : i === place ? "refused" : "no answer"));
    assert.deepEqual([states(found), found.lost], [expected, []]);
    assert(found.kept);
  }
});

test("a role that shows another manifest than it sent accuses nobody else", async () => {
  const found = await played(() => {}, [names[1]], null, 0);
  assert.deepEqual([states(found)[0], found.faults, found.lost], ["yes", [], []]);
  assert.deepEqual(states(found).slice(1), names.slice(1).map(() => "no answer"));
  assert(found.kept);
});

test("tags that nobody has checked are erased when the lists are no longer served", async () => {
  const pages = { charges: [], entries: [{ watched: [["aa"]], watched_until: 10 }, { watched: [["aa"]] }, {}] };
  forgetOldTags(pages, 10);
  assert.deepEqual(pages.entries.map(({ watched }) => watched), [[["aa"]], null, undefined]);
  forgetOldTags(pages, 11);
  assert.equal(pages.entries[0].watched, null);
  const { entry } = await played();
  assert.equal(entry.watched_until, 2000 + 30 * 86400);
});

test("a list that does not ascend is refused", async () => {
  const found = await played((lists) => lists[1].reverse());
  assert.deepEqual(found.faults, [{ name: names[1], reason: "tags-unsorted" }]);
  assert.equal(states(found)[1], "refused");
  assert.deepEqual(found.lost, []);
});

/** Files of a list of `tags` tags, which nobody has. */
const invented = (tags) => {
  const sizes = Array.from({ length: Math.ceil(tags / 2 ** 21) }, (_, i) => Math.min(2 ** 21, tags - i * 2 ** 21));
  return [sizes.map((size, i) => ({ sha256: i.toString(16).padStart(64, "0"), tags: size }))];
};

test("lists that are longer than the contract can fill are refused, and not fetched", async () => {
  const { most_bundles: most } = round.contract;
  const [{ recipe, layout, ...part }] = (await readContract(round.note)).plan.parts;
  const many = most * slotsOf(part) + mostFakes(recipe, layout) + 1;
  const pieces = invented(many)[0].map(({ sha256, tags }) => ({ sha256, messages: tags }));
  const parts = [{ received: many, copies: 0, unopened: 0, malformed: 0, added: 0, pieces }];
  for (const [reason, changes] of [
    ["too-many-bundles", { bundles: most + 1, arrivals: invented(most + 1) }],
    ["too-many-bundles", { left_out: most, bundles: most, arrivals: invented(2 * most) }],
    ["too-many-messages", { parts }],
  ]) {
    const found = await played(() => {}, [], null, null, undefined, (plain) => (plain.hop === 1 ? { ...plain, ...changes } : plain));
    assert.deepEqual(found.faults, [{ name: names[0], reason }]);
    assert.deepEqual([found.fetched, states(found)[0], found.lost], [[], "refused", []]);
  }
});

/** How often a pattern is matched against `text` while `work` runs: a reader of JSON does it at every value. */
async function matchesOf(text, work) {
  const { exec } = RegExp.prototype;
  let count = 0;
  RegExp.prototype.exec = function (given) {
    if (String(given).startsWith(text.slice(0, 30))) count++;
    return exec.call(this, given);
  };
  try {
    return [await work(), count];
  } finally {
    RegExp.prototype.exec = exec;
  }
}

test("what nobody has signed is not parsed", async () => {
  const text = `{"kind":"manifest","x":[${"[],".repeat(2 ** 19)}[]]}\n`;
  const [, parsed] = await matchesOf(text, async () => assert.throws(() => readManifest(utf8(text))));
  assert(parsed >= 2 ** 19, `${parsed}`);
  const honest = await played();
  const served = () => played(() => {}, [], null, null, undefined, undefined, [text]);
  const [found, matches] = await matchesOf(text, served);
  assert.deepEqual(states(found), states(honest));
  assert.equal(matches, 0);
});

test("ordinary devices keep no tags", async () => {
  const role = makeRole(round);
  const options = { trust: { fingerprint: round.fingerprint }, storage: memoryStorage(), fetch: role.fetch };
  const entry = await answer(round.url, "Zürich", { ...options, consent: () => true, clock: () => 1010 });
  assert.equal(entry.watched, undefined);
});
