// Small charts as SVG: a line over an axis, bars, or points of several kinds. Colors come from the style sheet.
import { draw } from "./dom.js";
import { formatMark, ticks } from "./words.js";

const [WIDTH, HEIGHT] = [460, 260];
const EDGE = { left: 74, right: 18, top: 16, bottom: 44 };

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

// Marks of the kinds of pairs, around the point (0, 0): a circle, a square and a triangle.
const MARKS = ["m-2.2,0a2.2,2.2 0 1 0 4.4,0a2.2,2.2 0 1 0 -4.4,0", "m-2,-2h4v4h-4z", "m-2.6,2l2.6,-4.6l2.6,4.6z"];

// `groups`: [{ words, z, R }], each with a mark and a color of its own, the last on top; both axes are logarithmic.
export function pairChart(label, xAxis, yAxis, groups) {
  const all = (name) => groups.flatMap((group) => Array.from(group[name]));
  if (!all("z").length) return draw("svg", { viewBox: `0 0 ${WIDTH} 40`, class: "chart" }, draw("text", { x: 10, y: 24 }, "nothing to draw: all points are equal"));
  const [x0, x1] = range(all("z"));
  const [y0, y1] = range(all("R"));
  const x = scaleOf([], x0, x1, true, EDGE.left + 8, WIDTH - EDGE.right - 8);
  const y = scaleOf([], y0, y1, true, HEIGHT - EDGE.bottom - 8, EDGE.top + 8);
  const svg = frame(label, xAxis, yAxis, x, y);
  const [low, high] = [Math.max(x0, y0), Math.min(x1, y1)];
  const first = MARKS.length - groups.length;  // edges keep their mark where a kind is missing
  groups.forEach((group, k) => {
    const marks = Array.from(group.z, (z, i) => `M${x.place(z).toFixed(1)},${y.place(group.R[i]).toFixed(1)}${MARKS[k ? k + first : 0]}`);
    svg.append(draw("path", { class: `pairs-${k ? k + first : 0}`, d: marks.join("") }));
  });
  if (low < high) svg.append(draw("line", { class: "equal", x1: x.place(low), y1: y.place(low), x2: x.place(high), y2: y.place(high) }));
  const lines = groups.map((group, k) => {
    const at = HEIGHT + 18 * (k + 1) - 6;
    return [draw("path", { class: `pairs-${k ? k + first : 0}`, d: `M${EDGE.left + 4},${at - 4}${MARKS[k ? k + first : 0]}` }), draw("text", { x: EDGE.left + 16, y: at }, group.words)];
  });
  svg.append(...lines.flat());
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT + 18 * groups.length}`);
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
