// How good it is by now.
import { drawCurve } from "./curve.js";
import { count, h, percent, refill } from "./dom.js";

export default function estimate(page) {
  const { ask, state } = page;
  const { short, figure, curve, perClass, finishButton, mapBehind } = page.parts;

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

  async function showEstimate() {
    const answer = await ask("estimate");
    if (!answer.ok) return;
    const found = answer.body;
    const { interval, certificate } = found;
    const target = state.settings.target;
    const lines = [];
    if (certificate) {
      const { right, answered, skipped, of, low, high } = certificate;
      const done = answered + skipped === of;
      lines.push(
        h("p", { class: "big" }, done ? `${percent(right / Math.max(answered, 1))} % right` : `${answered + skipped} of ${of} audited`),
        h(
          "p",
          {},
          done
            ? `Measured: ${right} of ${answered} fresh random items, 95 % interval ${percent(low)} to ${percent(high)} %${skipped ? `, ${skipped} skipped` : ""}.`
            : "Closing audit: the model is frozen; these are fresh random items.",
        ),
      );
    } else if (interval) {
      lines.push(
        h("p", { class: "big" }, `About ${percent(interval.mean)} % of the rest right`),
        h("p", {}, `Estimate, ${percent(interval.low)} to ${percent(interval.high)} %, from ${found.audit[1]} random items that the model never learns from${found.audit_skipped ? ` (${found.audit_skipped} more skipped)` : ""}.`),
      );
      if (target) lines.push(h("p", {}, interval.low >= target ? `Target of ${percent(target)} % reached: the lower end is ${percent(interval.low)} %.` : `Target of ${percent(target)} % not reached: the lower end is ${percent(interval.low)} %.${pace(found.curve)}`));
    } else {
      const word = found.explained > 0.7 ? "well" : found.explained > 0.35 ? "partly" : "hardly";
      lines.push(
        h("p", { class: "big muted" }, "Too early to say"),
        h("p", {}, state.labels ? `The items are ${word} covered by now. A number appears after five random items.` : "Label the first items; a number appears after five random ones."),
      );
    }
    if (interval && !certificate) lines.push(h("p", {}, `${percent(found.coverage)} % of items are clear: one class has 90 % or more. The last answer changed ${count(found.changed, "prediction")}, the last ten ${mean(found.curve.slice(-10).map((point) => point.changed)).toLocaleString("en")} each.`));
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
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ["class", "labels", "share", "audit"].map((name) => h("th", { scope: "col" }, name)))),
          h(
            "tbody",
            {},
            found.per_class.map((each) =>
              h("tr", {}, h("th", { scope: "row" }, each.name), h("td", {}, each.labels), h("td", {}, `${percent(each.predicted)} %`), h("td", {}, each.audited ? `${each.hits} of ${each.audited}` : "none")),
            ),
          ),
        ),
      ),
    );
    finishButton.textContent = { labelling: "Finish", closing: "End audit", closed: "Continue" }[found.phase];
  }

  return { showEstimate };
}
