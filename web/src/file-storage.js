/** The diary in a file, for Node. */

import { mkdir, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { pagesOf } from "./diary.js";
import { Refusal } from "./refusal.js";

/**
 * The maximum number of seconds to wait for another process, and the age in seconds from which on a
 * lock is assumed to be left by a killed process.
 */
const [MOST_WAIT, STALE] = [30, 10];

/**
 * @param {string} path
 * @returns {import("./diary.js").Storage}
 */
export function fileStorage(path) {
  return {
    update: async (change) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const release = await acquire(`${path}.lock`);
      try {
        const pages = pagesOf(await read(path));
        const result = change(pages);
        await write(path, JSON.stringify(pages));
        return result;
      } finally {
        await release();
      }
    },
  };
}

/** @param {string} path */
async function read(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return null;
    throw new Refusal("diary-unavailable", `${path} is no diary: ${error}`);
  }
}

/**
 * Write a file atomically and durably.
 *
 * @param {string} path
 * @param {string} text
 */
async function write(path, text) {
  const file = await open(`${path}.part`, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, path);
  // The new name of the file is durable only after a sync of its folder.
  const folder = await open(dirname(path), "r");
  await folder.sync().finally(() => folder.close());
}

/**
 * @param {string} path
 * @returns {Promise<() => Promise<void>>} A function that releases the lock.
 */
async function acquire(path) {
  for (let tries = 0; tries < MOST_WAIT * 20; tries++) {
    try {
      await mkdir(path);
      const alive = setInterval(() => utimes(path, new Date(), new Date()).catch(() => {}), 1000);
      return async () => {
        clearInterval(alive);
        await rm(path, { recursive: true, force: true });
      };
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const age = await stat(path).then(({ mtimeMs }) => Date.now() - mtimeMs, () => 0);
    if (age > STALE * 1000) await rm(path, { recursive: true, force: true });
    await sleep(50);
  }
  throw new Refusal("diary-unavailable", `another process holds ${path}`);
}
