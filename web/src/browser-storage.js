/** The diary in IndexedDB, which all tabs of a site share. */

import { pagesOf } from "./diary.js";
import { Refusal } from "./refusal.js";

const STORE = "pages";
const KEY = "diary";

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function finish(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * @param {string} [name] Name of the database.
 * @returns {Promise<import("./diary.js").Storage>}
 * @throws {Refusal} `diary-unavailable`, if the browser refuses storage.
 */
export async function browserStorage(name = "mixtally") {
  /** @type {IDBDatabase} */
  let database;
  try {
    const request = indexedDB.open(name, 1); // throws if the person has blocked storage
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    database = await finish(request);
  } catch (error) {
    throw new Refusal("diary-unavailable", `this browser stores nothing: ${error}`);
  }
  return { update: (change) => updatePages(database, change) };
}

/**
 * @template T
 * @param {IDBDatabase} database
 * @param {(pages: import("./diary.js").Pages) => T} change
 * @returns {Promise<T>}
 */
async function updatePages(database, change) {
  const transaction = begin(database);
  const ended = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  ended.catch(() => {}); // it is awaited below, but not if the change throws
  const store = transaction.objectStore(STORE);
  const pages = pagesOf(await finish(store.get(KEY)).catch(refuse));
  let result;
  try {
    result = change(pages);
    store.put(pages, KEY);
  } catch (error) {
    transaction.abort();
    throw error;
  }
  await ended.catch(refuse);
  return result;
}

/** @param {IDBDatabase} database */
function begin(database) {
  try {
    return database.transaction(STORE, "readwrite", { durability: "strict" });
  } catch (error) {
    return refuse(error); // the browser has closed it, because somebody erased the site's data
  }
}

/** @param {any} error @returns {never} */
function refuse(error) {
  throw new Refusal("diary-unavailable", `the diary was not written: ${error?.name}`);
}
