// The estimate with its band, and the share of clear items, over the number of labels.
import { count, percent, svg } from "./dom.js";

export function drawCurve(points, target) {
  const [width, height] = [380, 96];
  const most = Math.max(10, ...points.map((point) => point.labels));
  const x = (labels) => 26 + (labels / most) * (width - 34);
  const y = (value) => 6 + (1 - value) * (height - 22);
  const path = (list, pick) => list.map((point, i) => `${i ? "L" : "M"}${x(point.labels).toFixed(1)} ${y(pick(point)).toFixed(1)}`).join("");
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Estimate and coverage over ${most} labels` });
  for (const level of [0, 0.5, 1]) {
    picture.append(
      svg("line", { x1: 26, x2: width - 8, y1: y(level), y2: y(level), class: "grid" }),
      svg("text", { x: 22, y: y(level) + 3.5, class: "tick", "text-anchor": "end" }, String(percent(level))),
    );
  }
  picture.append(svg("text", { x: width - 8, y: height - 2, class: "tick", "text-anchor": "end" }, count(most, "label")));
  picture.append(svg("text", { x: 26, y: height - 2, class: "tick" }, "line and band: right · dashed: clear"));
  if (target) picture.append(svg("line", { x1: 26, x2: width - 8, y1: y(target), y2: y(target), class: "target" }));
  if (points.length) {
    const back = [...points].reverse();
    picture.append(
      svg("path", { d: `${path(points, (p) => p.interval.high)}${path(back, (p) => p.interval.low).replace("M", "L")}Z`, class: "band" }),
      svg("path", { d: path(points, (p) => p.interval.mean), class: "mean" }),
      svg("path", { d: path(points, (p) => p.coverage), class: "coverage" }),
    );
  }
  return picture;
}
