/** Asking the roles what arrived, once a round is over, and again while a role is silent. */

import { checkArrivals } from "../src/watch.js";
import { arrivalSection } from "./arrival-view.js";
import { h, say } from "./view.js";

/** Seconds before the roles are asked again: at least, and at most. */
const [SOON, DAY] = [30, 86400];

/** @typedef {import("../src/diary.js").Pages} Pages */

/**
 * @param {import("../src/contract.js").Contract} contract
 * @param {import("../src/diary.js").Storage} storage
 * @param {object} page
 * @param {() => Promise<Pages>} page.readDiary
 * @param {(nodes: Node[]) => void} page.show
 * @param {() => void} page.tell Tells other tabs that the diary has changed.
 * @param {(action: () => Promise<unknown>) => void} page.run
 */
export function arrivalFollower(contract, storage, { readDiary, show, tell, run }) {
  let [isChecking, timer] = [false, 0];

  /** Look again. What a person has entered stays. */
  const askAgain = (isAsking = true) => run(async () => follow(await readDiary(), isAsking));

  /**
   * Show where messages arrived, ask the roles if a round is over, and ask again later.
   *
   * @param {Pages} pages
   * @returns {Promise<void>}
   */
  async function follow({ entries }, isAsking = true) {
    clearTimeout(timer);
    const mine = entries.filter((one) => one.contract === contract.fingerprint);
    const watched = mine.filter((one) => one.watched);
    const shown = watched.length ? watched : mine.slice(-1).filter((one) => one.arrivals);
    show(shown.map((one) => {
      const button = h("button", { type: "button", click: () => askAgain() }, say("check-again"));
      return arrivalSection(one, contract, button);
    }));
    const now = Date.now() / 1000;
    const due = watched.filter(({ closes, state }) => closes <= now && state !== "pending");
    if (due.length && isAsking && navigator.onLine && !isChecking) {
      isChecking = true;
      try {
        for (const entry of due) await checkArrivals(entry, { contract, storage });
      } finally {
        isChecking = false;
      }
      tell();
      return follow(await readDiary(), false);
    }
    // Less and less often, as every check fetches whole lists.
    const waits = watched.map(({ closes }) => closes > now ? closes - now + 1 : (now - closes) / 2);
    const wait = Math.min(DAY, Math.max(SOON, Math.min(...waits)));
    if (watched.length) timer = window.setTimeout(() => askAgain(), 1000 * wait);
  }

  return { follow, askAgain };
}
