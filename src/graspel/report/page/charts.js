// Small charts as SVG: a line over an axis, or bars. Colors come from the style sheet.
import { draw } from "./dom.js";
import { formatMark, ticks } from "./words.js";

const [WIDTH, HEIGHT] = [460, 260];
const EDGE = { left: 62, right: 18, top: 16, bottom: 44 };

function scaleOf(values, low, high, isLog, from, to) {
  const bend = isLog ? Math.log10 : (v) => v;
  const [a, b] = [bend(low), bend(high)];
  const place = (value) => from + ((bend(value) - a) / (b - a || 1)) * (to - from);
  const marks = isLog ? powers(low, high) : ticks(low, high);
  return { place, marks };
}

function powers(low, high) {
  const found = [];
  for (let p = Math.ceil(Math.log10(low) - 1e-9); p <= Math.log10(high) + 1e-9; p++) found.push(10 ** p);
  return found.length > 1 ? found.filter((_, k) => found.length < 8 || k % 2 === 0) : [low, high].map((v) => Number(v.toPrecision(2)));
}

function frame(label, xAxis, yAxis, x, y) {
  const bottom = HEIGHT - EDGE.bottom;
  const parts = [];
  for (const mark of x.marks) {
    parts.push(draw("text", { x: x.place(mark), y: bottom + 18, "text-anchor": "middle" }, formatMark(mark)));
  }
  for (const mark of y.marks) {
    parts.push(draw("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y.place(mark), y2: y.place(mark) }));
    parts.push(draw("text", { x: EDGE.left - 8, y: y.place(mark) + 4, "text-anchor": "end" }, formatMark(mark)));
  }
  parts.push(draw("text", { x: (EDGE.left + WIDTH - EDGE.right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, xAxis));
  const middle = (EDGE.top + bottom) / 2;
  parts.push(draw("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, yAxis));
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "chart" }, parts);
}

const range = (values) => [Math.min(...values), Math.max(...values)];

// `points`: [x, y]; `ring`: the one that is marked, or null.
export function lineChart(label, xAxis, yAxis, points, { isLog = false, ring = null } = {}) {
  const shown = points.filter(([px, py]) => Number.isFinite(px) && Number.isFinite(py) && (!isLog || py > 0));
  if (!shown.length) return draw("svg", { viewBox: `0 0 ${WIDTH} 40`, class: "chart" }, draw("text", { x: 10, y: 24 }, "nothing to draw: no rounds were run"));
  const [x0, x1] = range(shown.map(([px]) => px));
  const [y0, y1] = range(shown.map(([, py]) => py));
  const x = scaleOf([], x0, x1, false, EDGE.left + 8, WIDTH - EDGE.right - 8);
  const y = scaleOf([], y0, y1, isLog, HEIGHT - EDGE.bottom - 8, EDGE.top + 8);
  const svg = frame(label, xAxis, yAxis, x, y);
  svg.append(draw("polyline", { class: "line", points: shown.map(([px, py]) => `${x.place(px)},${y.place(py)}`).join(" ") }));
  for (const [px, py] of shown) svg.append(draw("circle", { class: "dot", cx: x.place(px), cy: y.place(py), r: 3.5 }));
  if (ring && Number.isFinite(ring[1]) && ring[1] !== null) svg.append(draw("circle", { class: "ring", cx: x.place(ring[0]), cy: y.place(ring[1]), r: 8 }));
  return svg;
}

// Bars from 0, numbered from 1; the space after bar `gap` is marked.
export function barChart(label, xAxis, yAxis, values, gap) {
  const x = scaleOf([], 0.4, values.length + 0.6, false, EDGE.left, WIDTH - EDGE.right);
  x.marks = ticks(1, values.length, 8).filter((mark) => mark >= 1 && Number.isInteger(mark));
  const y = scaleOf([], 0, Math.max(...values, 1e-300) * 1.1, false, HEIGHT - EDGE.bottom, EDGE.top);
  const svg = frame(label, xAxis, yAxis, x, y);
  if (gap !== null && gap < values.length) {
    svg.append(draw("rect", { class: "gap", x: x.place(gap), width: x.place(gap + 1) - x.place(gap), y: EDGE.top, height: HEIGHT - EDGE.bottom - EDGE.top }));
    svg.append(draw("text", { x: x.place(gap) - 6, y: EDGE.top + 14, "text-anchor": x.place(gap) > WIDTH / 2 ? "end" : "start",
      dx: x.place(gap) > WIDTH / 2 ? 0 : x.place(gap + 1) - x.place(gap) + 12 }, `largest gap, after ${gap}`));
  }
  values.forEach((value, k) => {
    svg.append(draw("line", { class: "bar", x1: x.place(k + 1), x2: x.place(k + 1), y1: y.place(0), y2: y.place(value) }));
    svg.append(draw("circle", { class: "dot", cx: x.place(k + 1), cy: y.place(value), r: 4 }));
  });
  return svg;
}
