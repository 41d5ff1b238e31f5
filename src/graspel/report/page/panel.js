// The panel beside the map: the point that is picked, its neighbors along the graph, a path, and what was chosen.
import { button, fill, make, markWords, save } from "./dom.js";
import { formatCount, formatNumber, plural, toCSV } from "./words.js";

const LISTED = 30;  // neighbors and chosen points in a list
const FIRST_VALUES = 12;  // columns of a point that are not folded away, beside those in which it is odd
const NAMED = 5;  // groups of the chosen points that are named

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
    this.host.scrollTop = 0;
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
        + "Search finds points by number, name, text, class or group; the lasso chooses many at once."));
      return;
    }
    fill(this.host, this.chosen.length ? this.listChosen() : null, this.picked >= 0 ? this.describe(this.picked) : null);
  }

  describe(i) {
    const { points, thumbnails, outlierScores, agreement } = this.page;
    const facts = [["row", formatCount(points.ids[i])]];
    if (points.known) facts.push(["class", points.label(i)]);
    if (points.clusters) facts.push(["group", points.cluster(i)]);
    if (agreement && !points.clusters.layer) facts.push(["agreement", `${formatNumber(agreement.shares[i] * agreement.graphs)} of ${agreement.graphs} graphs`]);
    if (outlierScores) facts.push(["outlier score", `${formatNumber(outlierScores[i])} (1 is usual)`]);
    return make("div", { className: "picked" },
      make("h3", {}, points.title(i, 60)),
      thumbnails.make(i, 112, `picture of ${points.title(i)}`) ?? (thumbnails.exist ? make("p", { className: "note" }, "Its picture was left out to keep the page small.") : null),
      make("dl", {}, facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]).flat()),
      points.texts?.[i] ? make("p", { className: "text" }, markWords(points.texts[i], this.page.query)) : null,
      this.listValues(i), this.listNeighbors(i), this.pathControls(i));
  }

  // The row of a point: its values, those first in which it differs from its group.
  listValues(i) {
    const { columns, points } = this.page;
    if (!columns?.exist) return null;
    const rows = columns.compare(i, ...points.peers(i));
    const odd = rows.filter((one) => one.isOdd).length;
    const line = ({ c, isOdd, usual }) => make("tr", { className: isOdd ? "odd" : "" }, make("th", { scope: "row" }, columns.list[c].name),
      make("td", {}, columns.show(c, i)), make("td", { className: "usual" }, columns.describeUsual(c, usual)));
    const block = (some) => make("table", { className: "values" }, make("thead", {}, make("tr", {}, ["column", "value", "usual in its group"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, some.map(line)));
    const shown = Math.max(FIRST_VALUES, odd);
    const rest = rows.slice(shown);
    return make("div", {}, make("h4", {}, odd ? `Its values; ${plural(odd, "column")} differ${odd === 1 ? "s" : ""} from its group` : "Its values, none unusual in its group"),
      block(rows.slice(0, shown)), rest.length ? make("details", {}, make("summary", {}, `${plural(rest.length, "more column")}`), block(rest)) : null);
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
      make("p", { className: "note" }, this.countGroups()),
      make("p", {}, button("Save as CSV", () => this.export(), { id: "export" }), " ", button("Clear", () => this.clear())),
      make("div", { className: "chips" }, chosen.slice(0, LISTED).map((i) => this.page.chip(i))),
      chosen.length > LISTED ? make("p", { className: "note" }, `and ${formatCount(chosen.length - LISTED)} more, all of them in the file`) : null);
  }

  // The groups of the chosen points, the most frequent first.
  countGroups() {
    const { clusters } = this.page.points;
    if (!clusters) return "";
    const counts = new Map();
    for (const i of this.chosen) counts.set(clusters.classes[i], (counts.get(clusters.classes[i]) ?? 0) + 1);
    const order = [...counts].sort((a, b) => b[1] - a[1]);
    const more = order.length > NAMED ? `, and ${order.length - NAMED} more groups` : "";
    return order.slice(0, NAMED).map(([k, number]) => `${formatCount(number)} in “${clusters.names[k]}”`).join(", ") + more;
  }

  csv() {
    const { points, outlierScores, columns: values } = this.page;
    const columns = ["row", ...(points.names ? ["name"] : []), ...(points.known ? ["class"] : []), ...(points.clusters ? ["group"] : []),
      "x", "y", "outlier score", ...(points.texts ? ["text"] : [])];
    const own = values?.list ?? [];
    const inFile = own.map(({ name }) => (columns.includes(name) ? `${name} (data)` : name));
    const value = { row: (i) => points.ids[i], name: (i) => points.names[i], class: (i) => points.label(i), group: (i) => points.cluster(i),
      x: (i) => points.map[3 * i], y: (i) => points.map[3 * i + 1], "outlier score": (i) => outlierScores?.[i] ?? "", text: (i) => points.texts[i] };
    const cell = ({ words, values: all }, i) => (Number.isNaN(all[i]) ? "" : words ? words[all[i]] : Number(all[i].toPrecision(7)));
    return toCSV([...columns, ...inFile], this.chosen.map((i) => [...columns.map((name) => value[name](i)), ...own.map((one) => cell(one, i))]));
  }

  export() {
    save("chosen points.csv", `\ufeff${this.csv()}`, "text/csv;charset=utf-8");
  }
}
