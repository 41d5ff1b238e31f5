// The edges of the graph on a drawing: all of them after some round, or on the map those of one group.
import { rgb, styleColor } from "./theme.js";
import { bytes, floats, ints, shorts } from "./unpack.js";

const [FAINTEST, STRONGEST] = [0.06, 0.6];  // opacity of edges
const LONG = 4;  // times the median length on the map from which an edge is drawn fainter
const DIAGONALS = 250;  // lengths of edges, in diagonals of the map, that cover it if they are one pixel wide

const ink = (name, alpha) => [...rgb(styleColor(name)).map((v) => v / 255), alpha];

export class Edges {
  // In the order of rounds, so that the graph after a round is a beginning of the list, and short ones first.
  constructor(packed, { points, size }) {
    const all = { heads: ints(packed.heads), tails: ints(packed.tails), weights: floats(packed.weights), rounds: shorts(packed.rounds),
      origins: bytes(packed.origins), eta: floats(packed.eta) };
    const diagonal = Math.hypot(...size) || 1;
    all.lengths = Float32Array.from(all.heads, (p, e) => {
      const q = all.tails[e];
      return Math.hypot(points[3 * p] - points[3 * q], points[3 * p + 1] - points[3 * q + 1]) / diagonal;
    });
    const order = Array.from(all.rounds.keys()).sort((a, b) => all.rounds[a] - all.rounds[b] || all.lengths[a] - all.lengths[b] || a - b);
    for (const [name, values] of Object.entries(all)) this[name] = values.constructor.from(order, (e) => values[e]);
    this.pairs = this.pairUp(order.keys());
    this.covered = this.lengths.reduce((sum, v) => sum + v, 0) / DIAGONALS;
  }

  pairUp(chosen) {
    return Uint32Array.from(Array.from(chosen).flatMap((e) => [this.heads[e], this.tails[e]]));
  }

  // How many edges there are after a round.
  end(round) {
    let e = this.rounds.length;
    while (e > 0 && this.rounds[e - 1] > round) e--;
    return e;
  }

  // The edges after a round: those of the start in gray, those of the rounds in color.
  layers(round = Infinity) {
    const start = this.end(0);
    return [
      { from: 0, to: start, color: ink("--edge", this.rounds.length > 20000 ? 0.35 : 0.6) },
      { from: start, to: this.end(round), color: ink("--accent", 0.9) },
    ];
  }

  // The same on the map. They are the fainter the more of it they would cover; long ones are fainter still, since a few
  // of them hide what all the others connect.
  layersOnMap() {
    const start = this.end(0);
    const alpha = Math.max(FAINTEST, Math.min(STRONGEST, 0.2 / Math.max(this.covered, 1e-9)));
    let long = 0;
    while (long < start && this.lengths[long] < LONG * this.lengths[start >> 1]) long++;
    return [
      { from: long, to: start, color: ink("--edge", Math.max(FAINTEST, alpha / 3)) },
      { from: 0, to: long, color: ink("--edge", Math.min(STRONGEST, 2 * alpha)) },
      { from: start, to: this.rounds.length, color: ink("--accent", Math.max(0.25, Math.min(0.9, 3 * alpha))) },
    ];
  }

  // Draw all edges, or on the map only those that lead to a group.
  drawOn(drawing, onMap, classes, group) {
    if (!onMap || group < 0 || !classes) {
      drawing.setEdges(this.pairs);
      return drawing.setLayers(onMap ? this.layersOnMap() : this.layers());
    }
    const kept = Array.from(this.heads.keys()).filter((e) => classes[this.heads[e]] === group || classes[this.tails[e]] === group);
    const start = kept.filter((e) => this.rounds[e] === 0).length;
    const [gray, color] = this.layers().map((layer) => layer.color);
    drawing.setEdges(this.pairUp(kept));
    return drawing.setLayers([{ from: 0, to: start, color: gray }, { from: start, to: kept.length, color }]);
  }
}
