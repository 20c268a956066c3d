// A page without a browser: state, and functions that note how they are called.

/** A page whose every function is noted in `calls`, but for those that are given. */
export function fakePage({ state = {}, ...given } = {}) {
  const calls = [];
  const base = {
    state: { classes: [], desk: [], outbox: [], entries: [], queue: [], visiting: null, place: -1, labels: 0, skipped: 0, phase: "labelling", connected: true, stopped: false, sending: false, moved: false, settings: { session: "s", nodes: 100 }, ...state },
    parts: {},
    map: { works: false },
    calls,
    called: (name) => calls.filter(([each]) => each === name).map(([, ...args]) => args),
    ...given,
  };
  return new Proxy(base, {
    get: (page, name) => (name in page ? page[name] : (...args) => void calls.push([name, ...args])),
  });
}

/** A few turns of the loop, in which promises that are settled go on. */
export async function turns(n = 5) {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve));
}
