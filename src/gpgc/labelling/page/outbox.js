// Events on their way to the journal, and the next items on their way here.

const PATIENCE = 5000; // milliseconds that what comes next waits for the last answer to be saved
const AHEAD = 4; // items that are held here, ready to be shown

/** A name for an event; pages of another machine have no randomUUID, since they are not encrypted. */
const newName = () => crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

/** @param {import("./types").Page} page @returns {Partial<import("./types").Page>} */
export default function outbox(page) {
  const { ask, state } = page;

  // Labels wait in state.outbox until the journal has them, even if the tab is closed meanwhile.
  const store = () => `gpgc-outbox-${state.settings.session}`;
  const keep = () => {
    try {
      localStorage.setItem(store(), JSON.stringify(state.outbox));
    } catch {
      // a notebook may forbid it; the outbox then lives as long as the cell
    }
  };

  function post(event) {
    state.outbox.push({ event: newName(), ...event });
    keep();
    page.showStatus();
    if (state.stopped) page.warnOfUnsaved();
    deliver();
  }

  async function deliver() {
    if (state.sending || !state.outbox.length || state.stopped) return;
    state.sending = true;
    const event = state.outbox[0];
    const answer = await ask("events", event);
    state.sending = false;
    if (answer.ok) {
      state.outbox.shift();
      if (!["label", "skip", "keep", "goal", "style", "order", "bulk", "confirm"].includes(event.do)) state.moved = true;
      page.showThought(answer.body.thought);
      keep();
      state.connected = true;
      if (!state.stopped) page.warn("");
      take(answer.body);
      if (["goal", "undo", "redo", "rename", "delete"].includes(event.do)) page.soon("estimate", page.showEstimate, 0);
    } else if (answer.status === 401) {
      page.hear("refused", answer.body);
      setTimeout(deliver, 2000);
      return;
    } else if (answer.status && answer.status < 500) {
      state.outbox.shift();
      keep();
      state.connected = true;
      page.warn(answer.body.problem);
    } else {
      state.connected = answer.status > 0;
      page.warn(`Not saved: ${answer.body?.problem ?? "the server does not answer."} The label is kept here and sent again.`);
      page.showStatus();
      setTimeout(deliver, 700);
      return;
    }
    page.showStatus();
    if (state.outbox.length) deliver();
    else {
      refill();
      page.soon("history", page.showHistory, 60);
    }
  }

  function take(body) {
    state.review = body.review ?? state.review;
    page.showReviewCount();
    state.labels = body.labels ?? state.labels;
    state.skipped = body.skipped ?? state.skipped;
    if (body.phase && body.phase !== state.phase) {
      state.phase = body.phase;
      state.certificate = null;
      state.desk = []; // other items are asked in another phase
      if (!state.visiting) page.show();
      page.soon("estimate", page.showEstimate, 0);
    }
    if (body.classes) {
      state.classes = body.classes;
      page.showClasses();
    }
    page.showStatus();
  }

  let refilling = false;
  let outdated = false;
  async function refill() {
    outdated = refilling;
    if (refilling || state.outbox.length) return;
    refilling = true;
    const holding = state.moved || !state.desk.length ? {} : { holding: state.desk[0].item };
    const answer = await ask("next", { n: AHEAD, ...holding });
    refilling = false;
    if (outdated) return refill();
    if (!answer.ok || state.outbox.length) {
      if (!answer.ok && answer.status) page.warn(answer.body.problem);
      return;
    }
    take(answer.body);
    // what is looked at stays, unless it was answered elsewhere, or something was put before it
    const isOpen = (item) => answer.body.items.some((each) => each.item === item.item);
    const [current] = state.moved ? [] : state.desk.filter(isOpen);
    const others = answer.body.items.filter((each) => each.item !== current?.item).map(page.prepare);
    state.desk = current ? [current, ...others] : others;
    state.moved = false;
    if (!state.visiting) page.show();
    if (!state.desk.length && state.phase === "labelling" && state.labels < state.settings.nodes) setTimeout(refill, 400);
  }

  /** Resolves once nothing is on its way, or the server has not taken it for a while. */
  async function whenSaved() {
    const start = performance.now();
    while (state.outbox.length && performance.now() - start < PATIENCE) await new Promise((resolve) => setTimeout(resolve, 20));
    return !state.outbox.length;
  }

  /** Take up what a closed tab left behind. */
  function recover() {
    try {
      const left = JSON.parse(localStorage.getItem(store()) || "[]");
      const isKnown = (event) => state.outbox.some((each) => each.event === event.event);
      state.outbox = [...left.filter((event) => !isKnown(event)), ...state.outbox];
    } catch {
      // nothing was left, or nothing may be read
    }
  }

  return { post, deliver, refill, take, recover, whenSaved };
}
