// What the session tells by itself.
import { count } from "./dom.js";

/** @param {import("./types").Page} page @returns {Partial<import("./types").Page>} */
export default function news(page) {
  const { state } = page;
  const { progress, progressBar, progressText } = page.parts;

  const timers = new Map();
  /** Do something once, a little later, however often it is asked for meanwhile. */
  function soon(name, work, delay) {
    if (timers.has(name)) return;
    timers.set(name, setTimeout(() => {
      timers.delete(name);
      work();
    }, delay));
  }

  /** Say how far the model is; items that can be asked without it are shown meanwhile. */
  function showProgress([fraction, what]) {
    progress.hidden = fraction >= 1;
    progressBar.value = fraction;
    progressText.textContent = `${what} …`;
  }

  function hear(what, about) {
    if (!state.settings) return;
    if (about.progress) showProgress(about.progress);
    const wait = state.settings.nodes > 200000 ? 2000 : 250;
    if (what === "lost") {
      if (state.stopped) return;
      state.connected = false;
      if (state.outbox.length) page.warn("Not saved: the server does not answer. The label is kept here and sent again.");
      else page.warn("The server does not answer. All labels are saved; the same command goes on from here.");
      page.showStatus();
    } else if (what === "refused") {
      state.connected = false;
      const unsent = state.outbox.length;
      page.warn(unsent ? `${count(unsent, "label")} not saved. ${about.problem}` : about.problem);
      page.showStatus();
    } else if (what === "hello") {
      if (!state.connected || state.stopped) {
        state.connected = true;
        state.stopped = false;
        page.warn("");
        page.deliver();
      }
      if (about.layout !== state.layout) soon("layout", page.showLayout, 0);
      state.layout = about.layout;
      soon("colours", page.showColours, wait);
      soon("estimate", page.showEstimate, 100);
      if (!state.outbox.length) page.refill();
    } else if (what === "ready" || what === "queue") {
      if (!state.desk.length) soon("refill", page.refill, 0);
    } else if (what === "opinion") {
      page.retryConfirm();
      soon("colours", page.showColours, wait);
      soon("estimate", page.showEstimate, 250);
    } else if (what === "estimate") soon("estimate", page.showEstimate, 50);
    else if (what === "layout") {
      state.layout = about.layout;
      soon("layout", page.showLayout, 50);
    } else if (what === "saved") {
      if (!state.outbox.length) {
        const isElsewhere = ["labels", "skipped", "phase"].some((name) => about[name] !== state[name]);
        page.take(about);
        soon("history", page.showHistory, 150);
        if (isElsewhere) soon("refill", page.refill, 0);
      }
    } else if (what === "review") {
      page.take(about);
      page.retryReview();
    }
    else if (what === "failure") page.start();
    else if (what === "stopping") {
      state.stopped = true;
      if (state.outbox.length) page.warnOfUnsaved();
      else page.warn("Stopped; all labels saved. The same command goes on from here.", true);
    }
  }

  return { soon, hear, showProgress };
}
