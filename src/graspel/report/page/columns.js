// The columns of the data, in the user's units: what each point has, what is usual in its group, and how both are drawn.
import { draw } from "./dom.js";
import { rampColor } from "./theme.js";
import { bytes, floats, shorts } from "./unpack.js";
import { formatDate, formatShare, formatValue } from "./words.js";

export const STRIKING = 3;  // robust standard deviations from the median of its group from which a value is marked
const RARE = 0.05;  // share of a group from which a word is not marked
const BARS = 24;  // of a distribution
const WORDS = 6;  // bars of a distribution of words
const NORMAL = 0.6745;  // the upper quartile of a normal variable

export class Columns {
  // `packed`: [{ name, values }] with numbers, NaN where one is missing, or [{ name, words, codes }].
  constructor(packed) {
    this.list = packed.map(({ name, kind = "number", values, words = null, codes }) => {
      if (!words) return { name, kind, words, values: floats(values) };
      return { name, words, values: Float32Array.from(shorts(codes), (code) => (code < words.length ? code : NaN)) };
    });
    this.kept = new Map();
  }

  get exist() {
    return this.list.length > 0;
  }

  show(c, i) {
    const { words, values } = this.list[c];
    return Number.isNaN(values[i]) ? "missing" : words ? words[values[i]] : this.say(c, values[i]);
  }

  // A number of a column: a date as a date.
  say(c, value) {
    return this.list[c].kind === "date" ? formatDate(value) : formatValue(value);
  }

  // The values of some points, sorted, without missing ones.
  sorted(c, points) {
    return Float32Array.from(points, (i) => this.list[c].values[i]).filter((v) => !Number.isNaN(v)).sort();
  }

  // What is usual of a column among the members of a group: quartiles, or the share of every word. Kept under a key.
  usual(c, key, members) {
    const name = `${c} ${key}`;
    if (!this.kept.has(name)) {
      const { words, values } = this.list[c];
      this.kept.set(name, words ? shares(values, members(), words.length) : quartiles(this.sorted(c, members())));
    }
    return this.kept.get(name);
  }

  // How far the value of a point is from what is usual: in robust standard deviations of its side, or from the share of
  // its word as if that were a probability.
  oddness(c, i, usual) {
    const { words, values } = this.list[c];
    const value = values[i];
    if (Number.isNaN(value) || !usual.number) return 0;
    if (words) return Math.sqrt(2 * Math.log(1 / Math.max(usual.shares[value], 1e-9)));
    const [low, middle, high] = usual.quartiles;
    if (value === middle) return 0;
    const side = (value > middle ? high - middle : middle - low) / NORMAL;
    return Math.abs(value - middle) / (side || (high - low) / (2 * NORMAL) || usual.deviation || Infinity);
  }

  isOdd(c, score) {
    return score >= (this.list[c].words ? Math.sqrt(2 * Math.log(1 / RARE)) : STRIKING);
  }

  describeUsual(c, usual) {
    const { words } = this.list[c];
    if (!usual.number) return "nothing";
    if (!words) return usual.quartiles[0] === usual.quartiles[2] ? this.say(c, usual.quartiles[1]) : `${this.say(c, usual.quartiles[0])} to ${this.say(c, usual.quartiles[2])}`;
    const most = usual.shares.indexOf(Math.max(...usual.shares));
    return `${words[most]} (${formatShare(usual.shares[most])})`;
  }

  // The columns of a point, those first in which it differs most from its group: [{ c, score, isOdd, usual }].
  compare(i, key, members) {
    const found = this.list.map((_, c) => {
      const usual = this.usual(c, key, members);
      const score = this.oddness(c, i, usual);
      return { c, score, isOdd: this.isOdd(c, score), usual };
    });
    return found.sort((a, b) => b.isOdd - a.isOdd || (a.isOdd ? b.score - a.score : a.c - b.c));
  }

  // From 0 to 1 where each value lies between the second lowest and highest of a hundred; NaN where it is missing.
  positions(c) {
    const { values } = this.list[c];
    const [low, high] = this.span(c);
    return values.map((v) => Math.max(0, Math.min(1, (v - low) / (high - low || 1))));
  }

  span(c) {
    const name = `span ${c}`;
    if (!this.kept.has(name)) {
      const all = this.list[c].values.filter((v) => !Number.isNaN(v)).sort();
      const at = (share) => all[Math.round(share * (all.length - 1))];
      const [low, high] = [at(0.02), at(0.98)];
      this.kept.set(name, all.length ? (low < high ? [low, high] : [all[0], all[all.length - 1]]) : [0, 0]);
    }
    return this.kept.get(name);
  }

  // The distribution in a group, filled, and that of all other points as a line.
  distribution(c, isInside, color) {
    const { words, values, name } = this.list[c];
    const n = words ? Math.min(words.length, WORDS) : BARS;
    const [inside, outside] = [new Float32Array(n), new Float32Array(n)];
    const [low, high] = this.span(c);
    const order = words ? mostFrequent(values, words.length, n) : null;
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) continue;
      const at = words ? order.indexOf(values[i]) : Math.max(0, Math.min(n - 1, Math.floor((n * (values[i] - low)) / (high - low || 1))));
      if (at >= 0) (isInside(i) ? inside : outside)[at]++;
    }
    const ends = words ? [words[order[0]], order.length > 1 ? words[order[order.length - 1]] : ""] : [this.say(c, low), this.say(c, high)];
    return drawDistribution(name, inside, outside, ends, color);
  }
}

function quartiles(sorted) {
  const n = sorted.length;
  const mean = sorted.reduce((sum, v) => sum + v, 0) / (n || 1);
  const deviation = Math.sqrt(sorted.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n || 1));
  return { number: n, deviation, quartiles: [0.25, 0.5, 0.75].map((share) => sorted[Math.round(share * (n - 1))]) };
}

function shares(values, members, n) {
  const counts = new Array(n).fill(0);
  let number = 0;
  for (const i of members) if (!Number.isNaN(values[i])) { counts[values[i]]++; number++; }
  return { number, shares: counts.map((count) => count / (number || 1)) };
}

function mostFrequent(values, n, most) {
  const counts = new Array(n).fill(0);
  for (const v of values) if (!Number.isNaN(v)) counts[v]++;
  return counts.map((_, k) => k).sort((a, b) => counts[b] - counts[a]).slice(0, most);
}

const [WIDE, HIGH] = [180, 30];

function drawDistribution(name, inside, outside, [low, high], color) {
  const n = inside.length;
  const total = (counts) => counts.reduce((sum, v) => sum + v, 0) || 1;
  const [a, b] = [inside.map((v) => v / total(inside)), outside.map((v) => v / total(outside))];
  const top = Math.max(...a, ...b) || 1;
  const y = (share) => HIGH - (HIGH - 2) * (share / top);
  const bars = Array.from(a, (share, k) => draw("rect", { x: (WIDE * k) / n + 0.5, width: WIDE / n - 1, y: y(share), height: HIGH - y(share), fill: color }));
  const steps = Array.from(b, (share, k) => `${k ? "L" : "M"}${(WIDE * k) / n},${y(share).toFixed(1)}H${(WIDE * (k + 1)) / n}`);
  return draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH + 14}`, class: "distribution", role: "img", "aria-label": `${name} in this group, filled, and elsewhere, the line` },
    bars, draw("path", { d: steps.join(""), class: "elsewhere" }),
    draw("text", { x: 0, y: HIGH + 12 }, cut(low)), draw("text", { x: WIDE, y: HIGH + 12, "text-anchor": "end" }, cut(high)));
}

const cut = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);

// A bar from the lowest to the highest color of a column of numbers.
export function colorBar() {
  const pieces = Array.from({ length: 24 }, (_, k) => draw("rect", { x: 7 * k, width: 7.2, y: 0, height: 14, fill: rampColor(k / 23) }));
  return draw("svg", { viewBox: "0 0 168 14", class: "ramp", "aria-hidden": "true" }, pieces);
}
