// Answers that are worth a second look, one by one: Enter keeps, one key changes.
import { button, count, h, percent } from "./dom.js";

/** @param {import("./types").Page} page @returns {Partial<import("./types").Page>} */
export default function review(page) {
  const { ask, state } = page;
  const { dialog, reviewButton } = page.parts;

  let queue = [];
  let current = null;

  function showReviewCount() {
    reviewButton.firstChild.textContent = state.review ? `Review ${state.review}` : "Review";
  }

  /** Look at what the session has to show; the last answer has been saved then. */
  async function openReview() {
    await page.whenSaved();
    const answer = await ask("review");
    if (!answer.ok) return page.warn(answer.body.problem);
    queue = answer.body.entries;
    state.review = answer.body.count;
    showReviewCount();
    if (queue.length) return next(answer.body);
    current = null;
    const text = answer.body.checking ? "The labels are being checked; what looks wrong appears here." : "No label contradicts the others, and nothing was skipped. Labels are checked from ten on, of two classes.";
    page.openDialog("Nothing to review", h("p", {}, text));
    dialog.dataset.kind = answer.body.checking ? "checking" : "review";
  }

  /** Look again once the labels were checked. */
  function retryReview() {
    if (dialog.open && dialog.dataset.kind === "checking") openReview();
  }

  function summary({ wrong, count: n }) {
    const [n_wrong, n_labels] = wrong;
    const others = n - n_wrong;
    const words = n_wrong ? [`${n_wrong} of your ${count(n_labels, "label")} may be wrong`] : [];
    if (others) words.push(`${count(others, "item")} skipped, unsure or in conflict`);
    return words.join(" · ");
  }

  async function next(found) {
    current = null; // no key is meant for what is not in sight
    const entry = queue.shift();
    if (!entry) return openReview();
    const answer = await ask("item", { item: entry.item });
    if (!answer.ok) return page.warn(answer.body.problem);
    const shown = page.prepare(answer.body);
    const { why, label, other, wrong } = entry;
    const name = (text) => page.tint(h("b", { class: "mark given" }, text), text);
    const by = (who) => (who ? ` by ${who}` : "");
    const reasons = {
      conflict: () => [name(label), by(entry.by), ", but ", name(other), by(entry.other_by)],
      contradicted: () => ["Labelled ", name(label), by(entry.by), ". From all other labels: ", name(other), `; probably wrong: ${percent(wrong)} %.`],
      imported: () => ["Imported as ", name(label), ". From all other labels: ", name(other), `; probably wrong: ${percent(wrong)} %.`],
      unsure: () => ["Somebody was unsure. A class key labels it."],
      skipped: () => ["It was skipped. A class key labels it."],
    };
    const keep = button("", keepIt, { class: "class strong", id: "keep" });
    keep.append(h("kbd", {}, "Enter"), label ? ` Keep ${label}` : " Leave it");
    const change = other ? button("", changeIt, { class: "class", id: "change" }) : null;
    change?.append(h("kbd", {}, "Space"), ` ${other}`);
    if (change) page.tint(change, other);
    page.openDialog(
      "Is this right?",
      h("p", { class: "muted", id: "review-count" }, found ? summary(found) : `${count(queue.length + 1, "item")} to go`),
      h("div", { class: "review-item" }, shown.element),
      h("p", { class: "why" }, reasons[why]()),
      h("div", { class: "classes" }, keep, change),
      h("div", { class: "classes small" }, state.classes.filter((each) => each.name !== label && each.name !== other).map((each) => page.buildChip(each, () => labelIt(each.name)))),
    );
    dialog.dataset.kind = "review";
    keep.focus();
    current = entry;
  }

  /** Answer for the item in sight, then show the next one. */
  function decide(event) {
    if (!current) return;
    page.post({ item: current.item, was: current.label ?? null, reviewed: true, chosen: true, ...event });
    state.prepared.delete(current.item);
    next();
  }

  const keepIt = () => decide({ do: "keep" });
  const labelIt = (label) => decide({ do: current?.label ? "correct" : "label", label });
  const changeIt = () => current?.other && labelIt(current.other);

  return { showReviewCount, openReview, retryReview, keepIt, changeIt, labelIt };
}
