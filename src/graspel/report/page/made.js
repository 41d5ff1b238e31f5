// The folded section "how it was made": charts of the rounds, the graph after each round, and the critical edges.
import { barChart, lineChart, pairChart } from "./charts.js";
import { element, fill, make, scrollBox, table } from "./dom.js";
import { Scatter } from "./scatter.js";
import { floats } from "./unpack.js";
import { formatCount, formatNumber, plural } from "./words.js";

const ROWS = 300;  // edges in the table

export function showMade(page, rest) {
  const section = element("made");
  let isDrawn = false;
  section.addEventListener("toggle", () => {
    if (!section.open || isDrawn) return;
    isDrawn = true;
    const rounds = rest.rounds.some((one) => one.gap !== null) ? rest.rounds.filter((one) => one.gap !== null) : rest.rounds;
    const first = rounds.length && rounds[0].gap !== null
      ? lineChart("bound of the gap in each round", "round", "upper bound of the gap", rounds.map((one) => [one.round, one.gap]), { isLog: true })
      : lineChart("largest distortion in each round", "round", "largest distortion η", rounds.map((one) => [one.round, one.eta]), { isLog: true });
    fill(element("convergence"), first,
      lineChart("objective in each round", "round", "objective F", rounds.map((one) => [one.round, one.F])));
    fill(element("spectrum"), barChart("first eigenvalues", "number of the eigenvalue", "eigenvalue λ", rest.spectrum.values, rest.spectrum.gap));
    showPairs(rest.pairs);
    showRounds(page, rest);
    showEdges(page);
    section.dataset.drawn = "yes";
  });
}

function showPairs(packed) {
  if (packed === null) return;
  const groups = packed.map(({ words, z, R }) => ({ words, z: floats(z), R: floats(R) }));
  element("pairs-box").hidden = false;
  fill(element("pairs"), pairChart("effective resistance against squared distance", "squared distance z", "effective resistance R", groups));
}

function showRounds(page, rest) {
  const { states } = rest;
  const slider = element("rounds");
  const last = states.length - 1;
  Object.assign(slider, { max: String(last), value: String(last), disabled: last === 0 });
  const drawing = new Scatter(element("rounds-drawing"), "the graph in space after some rounds; arrow keys turn it", { describe: (i) => page.points.describe(i) });
  page.drawings.push(drawing);
  drawing.show(page.space, rest.eye);
  drawing.setEdges(page.edges.pairs);
  page.paint(drawing);
  const go = () => {
    const state = Number(slider.value);
    const here = states[state];
    const eta = here.eta === null ? "" : `, largest distortion ${formatNumber(here.eta)}`;
    element("state").textContent = `after ${plural(state, "round")}: ${formatCount(here.edges)} edges, density ${here.density.toFixed(3)}${eta}`;
    drawing.setLayers(page.edges.layers(state));
    fill(element("tradeoff"), lineChart("density against distortion", "density, edges per point", "largest distortion η", states.map((one) => [one.density, one.eta ?? NaN]),
      { isLog: true, ring: here.eta === null ? null : [here.density, here.eta] }));
  };
  slider.addEventListener("input", go);
  go();
}

// The edges that the rounds added, largest distortion first; then the longest of the others.
function showEdges(page) {
  const { edges, points, origins } = page;
  const order = Array.from(edges.heads.keys());
  const eta = (e) => (Number.isFinite(edges.eta[e]) ? edges.eta[e] : -Infinity);
  order.sort((a, b) => (edges.rounds[a] === 0) - (edges.rounds[b] === 0) || eta(b) - eta(a) || edges.weights[a] - edges.weights[b]);
  const columns = ["ends", "weight", "round", "η", "why it is there"];
  const lines = order.slice(0, ROWS).map((e) => ({
    ends: [edges.heads[e], edges.tails[e]],
    cells: [formatNumber(edges.weights[e]), edges.rounds[e] ? String(edges.rounds[e]) : "start", eta(e) > -Infinity ? formatNumber(edges.eta[e]) : "", origins[edges.origins[e]]],
  }));
  const words = ({ ends, cells }) => [...ends.map((i) => `${points.ids[i]} ${points.describe(i)}`), ...cells].join(" ").toLowerCase();
  const show = () => {
    const terms = element("edge-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = lines.filter((line) => terms.every((term) => words(line).includes(term)));
    element("edge-count").textContent = `${formatCount(shown.length)} of ${formatCount(edges.heads.length)} edges are shown.`;
    const rows = shown.map(({ ends, cells }) => [make("div", { className: "chips" }, ends.map((i) => page.chip(i))), ...cells]);
    fill(element("edges"), scrollBox("critical edges", table(columns, rows)));
  };
  element("edge-search").addEventListener("input", show);
  show();
}
