// Send one error code of this program, privately, after `npm --prefix web ci` in this repository:
//     node send-error.js https://mix1.example/contracts/FINGERPRINT FINGERPRINT E_TIMEOUT
// It waits for a random time of the round; with `diary.json now` at the end it sends at once. In a
// project of your own, import "mixtally" and "mixtally/file-storage" (web/README.md).
import { argv } from "node:process";

import { answer, deliverUntilAnswered } from "../../web/src/index.js";
import { fileStorage } from "../../web/src/file-storage.js";

const [, , url, fingerprint, code, diary = "diary.json", when = "later"] = argv;
const options = {
  trust: { fingerprint },
  storage: fileStorage(diary),
  consent: ({ contract }) => contract.plan.guarantee.epsilon <= 1, // what this program's users agreed to
  atOnce: when === "now",
};
const entry = await deliverUntilAnswered(await answer(url, code, options), options);
console.log(`round ${entry.round}: ${entry.state}`);
