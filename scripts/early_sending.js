/**
 * Runs in a page before its own modules: the random time at which a bundle is sent falls into the first
 * half of the time that is left, because a busy machine needs seconds to send it. `survey.py` and tests
 * use it.
 */
{
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (pages, ...more) {
    const now = Date.now() / 1000;
    for (const one of pages?.entries ?? []) {
      const half = Math.floor((now + one.closes) / 2);
      if (one.state === "pending" && !one.tries) one.due = Math.min(one.due, half);
    }
    return put.call(this, pages, ...more);
  };
}
