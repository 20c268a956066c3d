// Reading an item: scrolling by keys, a fade where it goes on, an image as large as it is; the guide.
import { button, h } from "./dom.js";

const STEP = 0.8; // of what is in sight, a key scrolls

/** @type {import("./types").Part} */
export default function reading(page) {
  const { state } = page;
  const { guideBox, itemBox } = page.parts;

  const scrolled = () => itemBox.querySelector(".shown.text, .shown .table, .certificate");

  /** Fade where there is more to read. */
  function fade() {
    const part = scrolled();
    if (!part) return;
    part.classList.toggle("above", part.scrollTop > 2);
    part.classList.toggle("below", part.scrollTop + part.clientHeight < part.scrollHeight - 2);
  }
  itemBox.addEventListener("scroll", fade, { capture: true, passive: true });
  new ResizeObserver(fade).observe(itemBox);

  const scroll = (sign) => () => {
    const part = scrolled();
    part?.scrollBy({ top: sign * STEP * part.clientHeight });
  };

  /** Show an image alone, as large as it is. */
  itemBox.addEventListener("click", (event) => {
    const item = state.visiting ?? state.desk[0];
    if (event.target.tagName !== "IMG" || !item) return;
    const image = h("img", { alt: event.target.alt, class: event.target.className, src: event.target.src });
    page.openDialog("enlarged", `Item ${item.id}`, h("div", { class: "enlarged" }, image));
  });

  /** Headings, lists and paragraphs of Markdown, as text. */
  function fromMarkdown(text) {
    const bold = (line) => line.split(/\*\*(.+?)\*\*/).map((part, i) => (i % 2 ? h("b", {}, part) : part));
    return text.split(/\r?\n/).map((line) => {
      const [, marks, title] = /^(#+)\s+(.*)/.exec(line) ?? [];
      if (marks) return h("h3", {}, title);
      const [, entry] = /^\s*[-*]\s+(.*)/.exec(line) ?? [];
      if (entry) return h("p", { class: "entry" }, bold(entry));
      return line.trim() ? h("p", {}, bold(line)) : null;
    });
  }

  /** Show or hide the guide beside the item. */
  function toggleGuide() {
    if (!state.settings?.guide) return;
    if (guideBox.hidden) guideBox.replaceChildren(button("×", toggleGuide, { class: "quiet close", "aria-label": "Close the guide" }), ...fromMarkdown(state.settings.guide).filter(Boolean));
    guideBox.hidden = !guideBox.hidden;
  }

  return { fade, scrollUp: scroll(-1), scrollDown: scroll(1), toggleGuide };
}
