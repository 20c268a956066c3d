// The goal of a session: what is left to it, and the certificate at its end.
import { button, count, h, percent, table } from "./dom.js";

const FEW = 150; // labels before which a flat curve may be chance

/** @type {import("./types").Part} */
export default function goal(page) {
  const { state } = page;
  const { dialog, finishButton } = page.parts;

  const short = (value) => Number((100 * value).toFixed(1));
  const time = (minutes) => (minutes < 1 ? "a minute" : minutes < 90 ? count(Math.round(minutes), "minute") : count(Math.round(minutes / 60), "hour"));

  /** Say how far the goal is, honestly where it is far. */
  function goalText({ accuracy, within, audits, labels, is_far, items, minutes, is_reached }) {
    const name = `Goal ${short(accuracy)} % ± ${short(within)}`;
    const proof = `${audits[0]} of ${audits[1]} random items that prove it`;
    if (is_reached) return `${name}: reached. Finish measures it.`;
    if (is_far) return `${name}: thousands of labels away as it goes now; better features would help more. ${proof}.`;
    if (items === null) return `${name}: how many labels it takes cannot be said ${state.labels < FEW ? "yet" : "– more of them hardly raise the estimate; better features would"}. ${proof}.`;
    const pace = minutes === null ? "" : `, ${time(minutes)} at this pace`;
    return `${name}: about ${count(items, "more item")}${pace}. ${labels ? "" : "The estimate is there; "}${proof}.`;
  }

  /** Show the goal and the way to set it. */
  function buildGoal(found) {
    finishButton.classList.toggle("loud", Boolean(found?.is_reached) && state.phase === "labelling");
    const set = button(found ? "Change" : "Set a goal", openGoal, { class: "quiet", id: "set-goal" });
    return h("p", { id: "goal" }, found ? `${goalText(found)} ` : "", set);
  }

  function openGoal() {
    const field = (name, value, label, more) => h("label", {}, label, h("input", { type: "number", name, value, "aria-label": name, required: true, ...more }));
    const now = state.goal ?? { accuracy: 0.95, within: 0.03 };
    const accuracy = field("accuracy", short(now.accuracy), "Right, in %", { min: 50, max: 100, step: 0.5 });
    const within = field("within", short(now.within), "± points", { min: 0.5, max: 25, step: 0.5 });
    const post = (event) => {
      page.post({ do: "goal", ...event });
      dialog.close();
    };
    const read = (label) => Number(label.querySelector("input").value) / 100;
    page.openDialog(
      "goal",
      "Goal",
      h("p", {}, "How many of the labels are to be right, and within how many points you want to know it. A narrow interval takes random items: ± 3 at 95 % takes 239, ± 5 takes 97. They are mixed in, more of them once the model is good enough, and count at the end."),
      page.form(() => post({ accuracy: read(accuracy), within: read(within) }), accuracy, within, h("button", { class: "strong" }, "Set")),
      state.goal ? button("No goal", () => post({ accuracy: null }), { class: "quiet" }) : null,
    );
    accuracy.querySelector("input").focus();
  }

  /** What a finished session is worth, in place of an item. */
  function buildCertificate({ right, answered, skipped, low, high, running, fresh, by_class }) {
    const files = state.settings.exports.filter((name) => name.startsWith("certificate")).map((name) => page.exportLink(name));
    const rows = by_class.map((each) => [each.name, ...(each.answered ? [`${each.right} of ${each.answered}`, `${percent(each.low)} to ${percent(each.high)} %`] : ["none", ""])]);
    return h(
      "div",
      { class: "certificate", tabindex: "0", role: "region", "aria-label": "Certificate" },
      h("p", { class: "big" }, `${percent(right / Math.max(answered, 1))} % of the labels are right`),
      h("p", {}, `95 % interval: ${percent(low)} to ${percent(high)} %. ${right} of ${count(answered, "random item")}: ${running} mixed in, ${fresh} fresh${skipped ? `, ${skipped} skipped` : ""}.`),
      h("p", { class: "files" }, ...files),
      table([], rows),
      h("p", { class: "muted" }, "Export holds the labels and a prediction for every item. Continue goes on labelling."),
    );
  }

  return { buildGoal, buildCertificate };
}
