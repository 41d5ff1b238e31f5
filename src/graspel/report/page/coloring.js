// Ways to color the points: by groups or classes, by a column of words, or by numbers on a scale.
import { colorBar, Columns } from "./columns.js";
import { make } from "./dom.js";
import { classColor, classShape, isDark, rampColor, rgb } from "./theme.js";

const MISSING = [128, 128, 128, 110];  // color of a point without a value

// Everything that can color the points: { kind, name, make }.
export function listChoices({ points, columns, outlierScores }) {
  const labels = points.colorings.map(({ kind }) => (
    { kind, name: kind === "cluster" ? "group" : kind, make: () => points.colorings.find((one) => one.kind === kind) }));
  const scores = new Columns([]);
  scores.list = [{ name: "outlier score", words: null, values: outlierScores }];
  return [...labels, ...columns.list.map(({ name }, c) => ({ kind: `column ${c}`, name, make: () => byColumn(columns, c, `column ${c}`) })),
    { kind: "outlier score", name: "outlier score", make: () => byColumn(scores, 0, "outlier score") }];
}

function byColumn(columns, c, kind) {
  const { name, words, values } = columns.list[c];
  if (!words) return { kind, name, positions: columns.positions(c), ends: columns.span(c).map((end) => columns.say(c, end)) };
  const classes = Uint16Array.from(values, (v) => (Number.isNaN(v) ? words.length : v));
  const sizes = new Array(words.length + 1).fill(0);
  for (const k of classes) sizes[k]++;
  const names = [...words, "missing"].slice(0, sizes[words.length] ? undefined : words.length);
  return { kind, names, classes, sizes: sizes.slice(0, names.length) };
}

// The colors (red, green, blue, alpha) and shapes of all points; `lit` is the one group that is not faint, or -1.
export function colorPoints(coloring, n, lit) {
  const [colors, shapes] = [new Uint8Array(4 * n), new Uint8Array(n)];
  if (coloring?.positions) {
    const inks = Array.from({ length: 256 }, (_, k) => [...rgb(rampColor(k / 255)), 255]);
    coloring.positions.forEach((at, i) => colors.set(Number.isNaN(at) ? MISSING : inks[Math.round(255 * at)], 4 * i));
    return [colors, shapes];
  }
  const inks = Array.from({ length: coloring?.names.length ?? 1 }, (_, k) => [...rgb(classColor(k)), 255]);
  const faint = isDark() ? [110, 116, 126, 90] : [150, 156, 165, 90];
  for (let i = 0; i < n; i++) {
    const k = coloring ? coloring.classes[i] : 0;
    colors.set(lit >= 0 && k !== lit ? faint : inks[k], 4 * i);
    shapes[i] = classShape(k);
  }
  return [colors, shapes];
}

// What the colors of numbers mean.
export function scaleLegend({ name, ends: [low, high] }) {
  return [make("span", { className: "note" }, `${name}: `), make("span", {}, low), colorBar(), make("span", {}, high),
    make("span", { className: "note" }, "The lowest and the highest 2 % have the colors of the ends.")];
}
