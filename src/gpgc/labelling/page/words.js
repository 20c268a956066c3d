// What the page says: to everybody, to screen readers, and about what is saved.
import { count } from "./dom.js";

/** @type {import("./types").Part} */
export default function words(page) {
  const { map, state } = page;
  const { root, live, saved, labelCount, banner } = page.parts;

  function say(text) {
    live.textContent = text;
  }

  function warn(text, isCalm = false) {
    banner.textContent = text;
    banner.hidden = !text;
    banner.classList.toggle("settled", isCalm);
  }

  function warnOfUnsaved() {
    warn(`The server stopped; ${count(state.outbox.length, "label")} not saved yet. Start it again.`);
  }

  function switchTheme() {
    const usual = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme ?? usual) === "dark" ? "light" : "dark";
    map.draw();
  }

  function showStatus() {
    labelCount.textContent = count(state.labels, "label");
    const unsent = state.outbox.length;
    saved.textContent = unsent ? (state.connected && !state.stopped ? "saving …" : `${unsent} not saved`) : state.labels ? "saved ✓" : "";
    saved.classList.toggle("alarm", Boolean(unsent) && (!state.connected || state.stopped));
  }

  return { say, warn, warnOfUnsaved, switchTheme, showStatus };
}
