// Line charts, drawn as SVG: the evaluation's curve of a game, and the curves of a training.

import { element, node } from "./boards/draw.js";

/** A chart of points {x, y}, with {low, high} the ends of an interval around y; all but x may be null. Options: width, height, least, most, zero, now, onpick, title, format. */
export function chart(points, { width = 290, height = 96, least, most, area = true, now = null, onpick, title, format = String, labels = true }) {
  const known = points.filter(({ y }) => y !== null && Number.isFinite(y));
  const banded = known.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high));
  const ends = [...known.map(({ y }) => y), ...banded.flatMap((point) => [point.low, point.high])];
  const [low, high] = [least ?? Math.min(...ends), most ?? Math.max(...ends)];
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 1];
  const [left, bottom] = [labels ? 46 : 4, labels ? 18 : 4];
  const x = (value) => left + ((value - first) / (last - first || 1)) * (width - left - 6);
  const y = (value) => height - bottom - ((value - low) / (high - low || 1)) * (height - bottom - 8);
  const line = known.map((point, index) => `${index ? "L" : "M"}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join("");
  const base = y(Math.min(Math.max(0, low), high));
  const drawn = [node("title", {}, title), node("path", { d: `M${left} ${base}H${width - 6}`, class: "axis" })];
  if (area && known.length > 1) {
    drawn.push(node("path", { d: `${line}L${x(known.at(-1).x)} ${base}L${x(known[0].x)} ${base}Z`, class: "area" }));
  }
  if (banded.length > 1) {
    const along = (name) => (point) => `${x(point.x).toFixed(1)} ${y(point[name]).toFixed(1)}`;
    drawn.push(node("path", { d: `M${[...banded.map(along("high")), ...banded.map(along("low")).reverse()].join("L")}Z`, class: "band" }));
  }
  drawn.push(node("path", { d: line, class: "trace" }));
  if (known.length === 1) {
    drawn.push(node("circle", { cx: x(known[0].x), cy: y(known[0].y), r: 3, class: "spot" }));
  }
  if (labels && known.length) {
    const marks = high === low ? [high] : [low, high];
    drawn.push(...marks.map((value) => node("text", { x: left - 5, y: y(value) + 4, "text-anchor": "end" }, format(value))));
    drawn.push(node("text", { x: left, y: height - 3 }, compact(first)), node("text", { x: width - 6, y: height - 3, "text-anchor": "end" }, compact(last)));
  }
  const here = points.find((point) => point.x === now);
  if (here) {
    drawn.push(node("path", { d: `M${x(now)} 4V${height - bottom}`, class: "now" }));
    if (here.y !== null) {
      drawn.push(node("circle", { cx: x(now), cy: y(here.y), r: 4.5, class: "spot" }));
    }
  }
  if (onpick) {
    drawn.push(node("rect", { x: left, y: 0, width: width - left, height: height - bottom, class: "hit" }));
  }
  const made = element(node("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": title }, ...drawn));
  if (onpick) {
    made.addEventListener("click", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(made.getScreenCTM().inverse()).x;
      const nearest = points.reduce((found, point) => (Math.abs(x(point.x) - at) < Math.abs(x(found.x) - at) ? point : found));
      onpick(nearest.x);
    });
  }
  return made;
}

/** A number as a short text: 1,234 or 1.2M. */
export function compact(value) {
  return new Intl.NumberFormat("en", { notation: Math.abs(value) >= 1e5 ? "compact" : "standard", maximumSignificantDigits: 4 }).format(value);
}
