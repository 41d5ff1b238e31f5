// The panel beside the map: the point that is picked, its neighbors along the graph, a path, and what was chosen.
import { button, fill, make, save } from "./dom.js";
import { formatCount, formatNumber, plural, toCSV } from "./words.js";

const LISTED = 30;  // neighbors and chosen points in a list

export class Panel {
  constructor(host, page) {
    Object.assign(this, { host, page, picked: -1, from: -1, chosen: [], path: [] });
    this.render();
  }

  pick(i) {
    const { network } = this.page;
    this.path = this.from >= 0 && network ? network.shortestPath(this.from, i) ?? [] : [];
    this.noPath = this.from >= 0 && this.from !== i && !this.path.length;
    this.from = -1;
    this.picked = i;
    this.render();
    this.mark();
  }

  choose(points) {
    this.chosen = points;
    this.render();
    this.mark();
  }

  clear() {
    Object.assign(this, { picked: -1, from: -1, chosen: [], path: [] });
    this.render();
    this.mark();
  }

  mark() {
    const first = this.picked >= 0 ? [this.picked] : [];
    this.page.map.mark([...first, ...this.path, ...this.chosen.slice(0, 2000)], this.path);
  }

  render() {
    if (this.picked < 0 && !this.chosen.length) {
      fill(this.host, make("p", { className: "note" }, "Pick a point on the map to see what it is, which points it is joined to, and why. "
        + "Search finds points by number, name, class or group; the lasso chooses many at once."));
      return;
    }
    fill(this.host, this.picked >= 0 ? this.describe(this.picked) : null, this.chosen.length ? this.listChosen() : null);
  }

  describe(i) {
    const { points, thumbnails, outlierScores } = this.page;
    const facts = [["row", formatCount(points.ids[i])]];
    if (points.known) facts.push(["class", points.label(i)]);
    if (points.clusters) facts.push(["group", points.cluster(i)]);
    if (outlierScores) facts.push(["outlier score", `${formatNumber(outlierScores[i])} (1 is usual)`]);
    return make("div", { className: "picked" },
      make("h3", {}, points.title(i, 60)),
      thumbnails.make(i, 112, `picture of ${points.title(i)}`) ?? (thumbnails.exist ? make("p", { className: "note" }, "Its picture was left out to keep the page small.") : null),
      make("dl", {}, facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]).flat()),
      points.texts?.[i] ? make("p", { className: "text" }, points.texts[i]) : null,
      this.listNeighbors(i), this.pathControls(i));
  }

  listNeighbors(i) {
    const { network, points, edges, origins } = this.page;
    if (!network) return null;
    const near = network.neighbors(i);
    const reason = (edge) => origins[edges.origins[edge]] + (edges.rounds[edge] ? `, added in round ${edges.rounds[edge]}` : "");
    const rows = near.slice(0, LISTED).map(({ point, edge }) => make("li", {}, this.page.chip(point),
      make("span", { className: "why" }, `${points.known ? `class ${points.label(point)}; ` : ""}weight ${formatNumber(edges.weights[edge])}; ${reason(edge)}`)));
    const more = near.length > LISTED ? make("p", { className: "note" }, `and ${near.length - LISTED} more`) : null;
    return make("div", {}, make("h4", {}, `${plural(near.length, "neighbor")} along the graph`), make("ul", { className: "near" }, rows), more);
  }

  pathControls(i) {
    const waiting = this.from === i;
    const say = waiting ? "Now pick the other end: on the map, in a list, or by search." : this.noPath ? "These two points are not connected by edges that are drawn." : "";
    const start = button(waiting ? "Cancel the path" : "Shortest path to …", () => {
      this.from = waiting ? -1 : i;
      this.render();
    });
    const steps = this.path.length > 1
      ? make("div", {}, make("h4", {}, `Shortest path, ${plural(this.path.length - 1, "edge")}`), make("div", { className: "chips" }, this.path.slice(0, 60).map((p) => this.page.chip(p))))
      : null;
    return make("div", {}, make("p", {}, start, " ", make("span", { className: "note", role: "status" }, say)), steps);
  }

  listChosen() {
    const { chosen } = this;
    return make("div", { className: "chosen" }, make("h4", { role: "status" }, `${plural(chosen.length, "point")} chosen`),
      make("p", {}, button("Save as CSV", () => this.export(), { id: "export" }), " ", button("Clear", () => this.clear())),
      make("div", { className: "chips" }, chosen.slice(0, LISTED).map((i) => this.page.chip(i))),
      chosen.length > LISTED ? make("p", { className: "note" }, `and ${formatCount(chosen.length - LISTED)} more, all of them in the file`) : null);
  }

  csv() {
    const { points, outlierScores } = this.page;
    const columns = ["row", ...(points.names ? ["name"] : []), ...(points.known ? ["class"] : []), ...(points.clusters ? ["group"] : []),
      "x", "y", "outlier score", ...(points.texts ? ["text"] : [])];
    const value = { row: (i) => points.ids[i], name: (i) => points.names[i], class: (i) => points.label(i), group: (i) => points.cluster(i),
      x: (i) => points.map[3 * i], y: (i) => points.map[3 * i + 1], "outlier score": (i) => outlierScores?.[i] ?? "", text: (i) => points.texts[i] };
    return toCSV(columns, this.chosen.map((i) => columns.map((name) => value[name](i))));
  }

  export() {
    save("chosen points.csv", `\ufeff${this.csv()}`, "text/csv;charset=utf-8");
  }
}
