// How good it is by now.
import { drawCurve } from "./curve.js";
import { count, h, percent, refill, table } from "./dom.js";

/** @type {import("./types").Part} */
export default function estimate(page) {
  const { ask, state } = page;
  const { short, figure, curve, perClass, peopleBox, finishButton, mapBehind } = page.parts;

  const mean = (values) => Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1));

  /** How much the last labels raised the lower end. */
  function pace(points) {
    const known = points.filter((point) => point.interval);
    if (!known.length) return "";
    const [last, before] = [known.at(-1), known.at(-21) ?? known[0]];
    const [won, given] = [Math.round(100 * (last.interval.low - before.interval.low)), last.labels - before.labels];
    if (given < 10) return "";
    return won < 1 ? ` The last ${given} labels did not raise it.` : ` The last ${given} labels raised it by ${count(won, "point")}.`;
  }

  /** Who labelled how much, and how far people agree. */
  function buildPeople({ both, same, low, high, rows }) {
    const agreed = both ? `Two people gave the same answer to ${same} of ${count(both, "random item")}, neither knowing the other's: ${percent(low)} to ${percent(high)} %.` : "No random item was answered by two people yet.";
    return h(
      "details",
      { open: peopleBox.querySelector("details")?.open },
      h("summary", {}, `People · ${rows.length}`),
      h("p", {}, agreed),
      table(
        ["", "labels", "as the model thought before"],
        rows.map((each) => [each.name || "nobody named", each.labels, each.model[1] ? `${each.model[0]} of ${each.model[1]}` : "none"]),
      ),
      h("p", { class: "muted" }, "The model asks for what it is unsure of, so that it agrees less often there than on the rest."),
    );
  }

  async function showEstimate() {
    const answer = await ask("estimate");
    if (!answer.ok) return;
    const found = answer.body;
    const { interval, certificate } = found;
    state.goal = found.goal;
    state.audited = found.audit[1];
    const target = found.goal?.accuracy;
    const lines = [];
    if (certificate) {
      const { right, answered, skipped, of, low, high, running } = certificate;
      const done = answered + skipped === of;
      lines.push(
        h("p", { class: "big" }, done ? `${percent(right / Math.max(answered, 1))} % right` : `${answered + skipped - running} of ${of - running} audited`),
        h(
          "p",
          {},
          done
            ? `Measured: ${right} of ${answered} random items, 95 % interval ${percent(low)} to ${percent(high)} %${skipped ? `, ${skipped} skipped` : ""}.`
            : "Closing audit: the model is frozen; these are fresh random items.",
        ),
      );
    } else if (interval) {
      lines.push(
        h("p", { class: "big" }, `About ${percent(interval.mean)} % of the rest right`),
        h("p", {}, `Estimate, ${percent(interval.low)} to ${percent(interval.high)} %, from ${found.audit[1]} random items that the model never learns from${found.audit_skipped ? ` (${found.audit_skipped} more skipped)` : ""}.${found.goal && interval.mean < target ? pace(found.curve) : ""}`),
      );
    } else {
      const word = found.explained > 0.7 ? "well" : found.explained > 0.35 ? "partly" : "hardly";
      lines.push(
        h("p", { class: "big muted" }, "Too early to say"),
        h("p", {}, state.labels ? `The items are ${word} covered by now. A number appears after five random items.` : "Label the first items; a number appears after five random ones."),
      );
    }
    if (interval && !certificate) lines.push(h("p", {}, `${percent(found.coverage)} % of items are clear: one class has 90 % or more. Your last label changed ${count(found.changed, "guess", "guesses")}, the last ten ${mean(found.curve.slice(-10).map((point) => point.changed)).toLocaleString("en")} each.`));
    if (found.source) lines.push(h("p", { id: "source" }, `${found.source.name} is right on ${found.source.right} of ${found.source.of} random items, answered without its suggestion in sight: ${percent(found.source.low)} to ${percent(found.source.high)} %.`));
    if (!certificate) lines.push(page.buildGoal(found.goal));
    if (found.phase === "closed" && certificate) {
      state.certificate = certificate;
      if (!state.desk.length && !state.visiting) page.show();
    }
    figure.replaceChildren(...lines);
    mapBehind.hidden = !found.behind;
    mapBehind.textContent = `The map is ${count(found.behind, "label")} behind.`;
    short.textContent = certificate ? "" : interval ? `estimate ${percent(interval.mean)} % (${percent(interval.low)}–${percent(interval.high)})` : "";
    curve.replaceChildren(...(interval && !certificate ? [drawCurve(found.curve.filter((point) => point.interval), target)] : []));
    const open = found.per_class.filter((each) => each.labels && !each.audited && interval);
    refill(
      perClass,
      h(
        "details",
        { open: perClass.querySelector("details")?.open },
        h("summary", {}, "By class", open.length ? ` · ${count(open.length, "class", "classes")} without a random item` : ""),
        table(
          ["class", "labels", "share", "audit"],
          found.per_class.map((each) => [each.name, each.labels, `${percent(each.predicted)} %`, each.audited ? `${each.hits} of ${each.audited}` : "none"]),
        ),
      ),
    );
    refill(peopleBox, found.people ? buildPeople(found.people) : null);
    finishButton.textContent = { labelling: "Finish", closing: "End audit", closed: "Continue" }[found.phase];
  }

  return { showEstimate };
}
