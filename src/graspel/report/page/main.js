// The page: the map first, from the first data block; everything else when the rest of the file has arrived.
import { button, element, fill, make } from "./dom.js";
import { legend, showGroups } from "./groups.js";
import { showMade } from "./made.js";
import { Network } from "./network.js";
import { Panel } from "./panel.js";
import { Points } from "./points.js";
import { Scatter } from "./scatter.js";
import { showAnomalies, showClasses } from "./sections.js";
import { classColor, classShape, isDark, onThemeChange, rgb, styleColor } from "./theme.js";
import { Thumbnails } from "./thumbnails.js";
import { bytes, floats, interleave, ints, readBlock, shorts } from "./unpack.js";
import { formatCount, plural } from "./words.js";

const FOUND = 12;  // points listed by the search

class Page {
  constructor() {
    const first = readBlock("first");
    this.points = new Points(first, document.title);
    this.coloring = this.points.clusters ?? this.points.known;
    this.lit = -1;
    this.view = "map";
    this.thumbnails = new Thumbnails(null, this.points.n);
    this.map = new Scatter(element("map"), "the map of all points; arrow keys move it, plus and minus zoom, Enter picks the point in the middle", {
      onPick: (i) => this.pick(i), onChoose: (points) => this.choose(points), describe: (i) => this.points.describe(i), onRestore: () => this.restore(),
    });
    this.drawings = [this.map];
    this.map.show(this.points.map);
    this.paintAll();
    this.panel = new Panel(element("panel"), this);
    this.listen();
    document.body.dataset.painter = this.map.painter.kind;
    onThemeChange(() => this.changeTheme());
  }

  // The rest of the page, when all of it has been read.
  load() {
    const rest = readBlock("rest");
    const { n } = this.points;
    this.points.addWords(rest.names, rest.texts);
    this.thumbnails = new Thumbnails(readBlock("pictures"), n);
    this.outlierScores = floats(rest.outlierScores);
    this.space = interleave(floats(rest.space), n);
    this.eye = rest.eye;
    this.origins = rest.origins;
    this.groups = rest.groups;
    this.loadEdges(rest.edges);
    this.network = new Network(n, this.edges);
    showGroups(this, rest.groups);
    showClasses(this, rest.classes);
    showAnomalies(this, rest.anomalies);
    showMade(this, rest);
    for (const link of document.querySelectorAll("nav a")) if (!element(link.hash.slice(1))) link.remove();
    document.body.dataset.drawn = "yes";
  }

  // Edges in the order of rounds, so that the graph after a round is a beginning of the list.
  loadEdges(packed) {
    const all = { heads: ints(packed.heads), tails: ints(packed.tails), weights: floats(packed.weights), rounds: shorts(packed.rounds),
      origins: bytes(packed.origins), eta: floats(packed.eta) };
    const order = Array.from(all.rounds.keys()).sort((a, b) => all.rounds[a] - all.rounds[b] || a - b);
    this.edges = Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.constructor.from(order, (e) => values[e])]));
    this.pairs = new Uint32Array(2 * order.length);
    for (let e = 0; e < order.length; e++) [this.pairs[2 * e], this.pairs[2 * e + 1]] = [this.edges.heads[e], this.edges.tails[e]];
    this.map.setEdges(this.pairs);
  }

  // The edges after a round: those of the start in gray, those of the rounds in color.
  edgeLayers(state = Infinity) {
    const { rounds } = this.edges;
    const end = (last) => { let e = rounds.length; while (e > 0 && rounds[e - 1] > last) e--; return e; };
    const ink = (name, alpha) => [...rgb(styleColor(name)).map((v) => v / 255), alpha];
    const start = end(0);
    return [
      { from: 0, to: start, color: ink("--edge", rounds.length > 20000 ? 0.35 : 0.6) },
      { from: start, to: end(state), color: ink("--accent", 0.9) },
    ];
  }

  // --- colors --------------------------------------------------------------------------------------------------------

  paint(drawing) {
    const { n } = this.points;
    const classes = this.coloring?.classes;
    const [colors, shapes] = [new Uint8Array(4 * n), new Uint8Array(n)];
    const inks = Array.from({ length: this.coloring?.names.length ?? 1 }, (_, k) => [...rgb(classColor(k)), 255]);
    const faint = isDark() ? [110, 116, 126, 90] : [150, 156, 165, 90];
    for (let i = 0; i < n; i++) {
      const k = classes ? classes[i] : 0;
      colors.set(this.lit >= 0 && k !== this.lit ? faint : inks[k], 4 * i);
      shapes[i] = classShape(k);
    }
    drawing.setColors(colors, shapes);
  }

  paintAll() {
    for (const drawing of this.drawings) this.paint(drawing);
    if (this.coloring) this.map.setLabels(this.coloring.names, this.coloring.classes, this.coloring.sizes);
    fill(element("legend"), legend(this));
  }

  changeTheme() {
    this.paintAll();
    for (const swatch of document.querySelectorAll(".card .swatch")) swatch.style.background = classColor(Number(swatch.dataset.group));
    if (this.groups) this.show(this.view);
  }

  restore() {
    if (this.pairs) this.map.setEdges(this.pairs);
    this.paintAll();
  }

  // --- what the reader does ------------------------------------------------------------------------------------------

  // A button that stands for a point: its picture or its name.
  chip(i) {
    const picture = this.thumbnails.make(i, 44, "");
    const name = this.points.title(i);
    const say = picture ? [picture] : name;
    return button(say, () => this.pick(i, true), { className: picture ? "chip picture" : "chip", "aria-label": `show ${name}`, title: this.points.describe(i) });
  }

  pick(i, looks = false) {
    this.panel.pick(i);
    if (!looks) return;
    this.map.lookAt(i);
    element("map-section").scrollIntoView({ block: "start" });
  }

  choose(points) {
    this.toggleLasso(false);
    this.panel.choose(points);
  }

  highlight(k, scrolls = false) {
    if (scrolls) {
      this.setColoring(this.points.clusters);
      element("map-section").scrollIntoView({ block: "start" });
    }
    this.lit = k;
    this.paintAll();
  }

  setColoring(coloring) {
    this.coloring = coloring;
    this.lit = -1;
    element("coloring").value = coloring.kind;
    this.paintAll();
  }

  rename(k, name) {
    this.points.rename(k, name);
    this.paintAll();
    showGroups(this, this.groups);
    for (const cell of document.querySelectorAll(`.group-name[data-group="${k}"]`)) cell.textContent = this.points.clusters.names[k];
    this.panel.render();
  }

  // The tabs: the map, the map with the edges of the graph, or the graph in space.
  show(view) {
    const inSpace = view === "space";
    if (inSpace !== (this.view === "space")) this.map.show(inSpace ? this.space : this.points.map, inSpace ? this.eye : null);
    this.view = view;
    this.map.setLayers(view === "map" ? [] : this.edgeLayers());
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const isOn = tab.dataset.view === view;
      tab.setAttribute("aria-selected", String(isOn));
      tab.tabIndex = isOn ? 0 : -1;
    }
    for (const note of document.querySelectorAll("[data-note]")) note.hidden = note.dataset.note !== view;
  }

  toggleLasso(isOn) {
    this.map.selecting = isOn;
    element("lasso").setAttribute("aria-pressed", String(isOn));
    element("map").classList.toggle("selecting", isOn);
  }

  search() {
    const found = this.points.find(element("search").value);
    const host = element("found");
    host.hidden = !element("search").value.trim();
    fill(host, make("p", { role: "status" }, found.length ? `${plural(found.length, "point")} found` : "nothing found"),
      found.length ? make("p", {}, button(`Choose all ${formatCount(found.length)}`, () => this.choose(found))) : null,
      make("div", { className: "chips" }, found.slice(0, FOUND).map((i) => this.chip(i))),
      found.length > FOUND ? make("p", { className: "note" }, `and ${formatCount(found.length - FOUND)} more`) : null);
    return found;
  }

  listen() {
    const tabs = [...document.querySelectorAll("[role=tab]")];
    tabs.forEach((tab, k) => {
      tab.addEventListener("click", () => this.edges && this.show(tab.dataset.view));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(k + step + tabs.length) % tabs.length];
        next.focus();
        next.click();
      });
    });
    const select = element("coloring");
    fill(select, this.points.colorings.map((one) => make("option", { value: one.kind }, one.kind === "cluster" ? "group" : one.kind)));
    if (this.points.colorings.length < 2) element("color-label").hidden = true;
    select.addEventListener("change", () => this.setColoring(this.points.colorings.find((one) => one.kind === select.value)));
    element("lasso").addEventListener("click", () => this.toggleLasso(!this.map.selecting));
    let timer = 0;
    element("search").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.search(), 120);
    });
    element("search").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const [first] = this.search();
      if (first !== undefined) this.pick(first, true);
    });
  }
}

export function start() {
  const page = new Page();
  window.graspelReport = page;  // for tests, and for readers who like to explore
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => page.load());
  else page.load();
}
