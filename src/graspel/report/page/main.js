// The page: the map first, from the first data block; everything else when the rest of the file has arrived.
import { colorPoints, listChoices } from "./coloring.js";
import { Columns } from "./columns.js";
import { button, element, fill, make, markWords } from "./dom.js";
import { Edges } from "./edges.js";
import { legend, showGroups } from "./groups.js";
import { showMade } from "./made.js";
import { Network } from "./network.js";
import { Panel } from "./panel.js";
import { Points } from "./points.js";
import { Scatter } from "./scatter.js";
import { showAnomalies, showClasses } from "./sections.js";
import { chooseTheme, classColor, isDark, onThemeChange, recallTheme } from "./theme.js";
import { Thumbnails } from "./thumbnails.js";
import { bytes, floats, interleave, ints, readBlock } from "./unpack.js";
import { formatCount, plural } from "./words.js";

const FOUND = 12;  // points listed by the search
const SNIPPET = 200;  // characters of a text in this list

class Page {
  constructor() {
    const first = readBlock("first");
    this.points = new Points(first, document.title);
    this.columns = new Columns([]);
    this.mainClusters = this.points.clusters;
    this.coloring = this.points.clusters ?? this.points.known;
    this.query = "";
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
    this.columns = new Columns(rest.columns);
    this.agreement = rest.agreement && { graphs: rest.agreement.graphs, shares: Float32Array.from(bytes(rest.agreement.shares), (v) => v / 255) };
    this.thumbnails = new Thumbnails(readBlock("pictures"), n);
    this.outlierScores = floats(rest.outlierScores);
    this.space = interleave(floats(rest.space), n);
    this.eye = rest.eye;
    this.origins = rest.origins;
    this.groups = rest.groups;
    this.edges = new Edges(rest.edges, this.map.camera);
    this.network = new Network(n, this.edges);
    showGroups(this, rest.groups);
    showClasses(this, rest.classes);
    showAnomalies(this, rest.anomalies);
    showMade(this, rest);
    this.offerColorings();
    this.offerLayers(rest.layers);
    this.linkClaims(rest.claims);
    for (const link of document.querySelectorAll("nav a")) if (!element(link.hash.slice(1))) link.remove();
    document.body.dataset.drawn = "yes";
  }

  // --- colors --------------------------------------------------------------------------------------------------------

  paint(drawing) {
    drawing.setColors(...colorPoints(this.coloring, this.points.n, this.lit));
  }

  // The ways to color the points, once the columns are known.
  offerColorings() {
    this.choices = listChoices(this);
    fill(element("coloring"), this.choices.map(({ kind, name }) => make("option", { value: kind }, name)));
    element("color-label").hidden = false;
    if (this.coloring) element("coloring").value = this.coloring.kind;
  }

  // The stable ways to divide the points, from coarse to fine; that of the summary is marked.
  offerLayers(others) {
    const main = { coloring: this.mainClusters, groups: this.groups };
    const layers = others.map(({ coloring, groups }, j) => ({ coloring: { ...coloring, classes: bytes(coloring.classes), layer: `layer ${j}` }, groups }));
    this.layers = [main, ...layers].sort((a, b) => a.groups.length - b.groups.length);
    element("layer-label").hidden = this.layers.length < 2;
    fill(element("layer"), this.layers.map((one, j) => make("option", { value: String(j), selected: one === main },
      `${one.groups.length}${one === main ? " (chosen)" : ""}`)));
    element("layer").addEventListener("change", (event) => this.setLayer(this.layers[Number(event.target.value)]));
  }

  setLayer({ coloring, groups }) {
    this.points.setClusters(coloring);
    this.groups = groups;
    showGroups(this, groups);
    this.choices = listChoices(this);
    this.setColoring(coloring);
    this.panel.render();
  }

  paintAll() {
    for (const drawing of this.drawings) this.paint(drawing);
    const named = this.coloring?.positions ? this.points.clusters : this.coloring;
    if (named) this.map.setLabels(named.names, named.classes, named.sizes);
    fill(element("legend"), legend(this));
    if (this.lit >= 0 || this.view === "edges") this.drawEdges();
  }

  // On the map as it is there are none.
  drawEdges() {
    if (!this.edges) return;
    if (this.view === "map") this.map.setLayers([]);
    else this.edges.drawOn(this.map, this.view === "edges", this.coloring?.classes, this.lit);
  }

  changeTheme() {
    element("theme").textContent = isDark() ? "Light" : "Dark";
    this.paintAll();
    for (const sign of document.querySelectorAll("#groups .swatch")) sign.style.background = classColor(Number(sign.dataset.group));
    if (this.groups && this.columns.exist) showGroups(this, this.groups);
    if (this.groups) this.show(this.view);
  }

  restore() {
    this.paintAll();
    this.drawEdges();
  }

  // --- what the reader does ------------------------------------------------------------------------------------------

  // A button that stands for a point: its picture or its name.
  chip(i, length = 40) {
    const picture = this.thumbnails.make(i, 44, "");
    const name = this.points.title(i, length);
    const say = picture ? [picture] : markWords(name, this.query);
    return button(say, () => this.pick(i, true), { className: picture ? "chip picture" : "chip", "aria-label": `show ${name}`, title: this.points.describe(i) });
  }

  pick(i, looks = false) {
    this.panel.pick(i);
    if (!looks) return;
    this.map.lookAt(i);
    element("map-section").scrollIntoView({ block: "start" });
  }

  // `shows` brings the map into sight; else the list of what was chosen comes into sight, if the page is narrow.
  choose(points, shows = false) {
    this.toggleLasso(false);
    this.panel.choose(points);
    if (shows) element("map-section").scrollIntoView({ block: "start" });
    else element("panel").scrollIntoView({ block: "nearest" });
  }

  // Each claim of the summary selects the points behind it.
  linkClaims(claims) {
    for (const link of document.querySelectorAll("[data-claim]")) {
      const points = Array.from(ints(claims[Number(link.dataset.claim)]));
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.choose(points, true);
      });
    }
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

  searchFor(words) {
    element("search").value = words;
    this.search();
    element("map-section").scrollIntoView({ block: "start" });
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
    this.drawEdges();
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
    this.query = element("search").value.trim();
    const found = this.points.find(this.query);
    const host = element("found");
    host.hidden = !this.query;
    fill(host, make("p", { role: "status" }, found.length ? `${plural(found.length, "point")} found` : "nothing found"),
      found.length ? make("p", {}, button(`Choose all ${formatCount(found.length)}`, () => this.choose(found))) : null,
      make("div", { className: this.points.texts && !this.thumbnails.exist ? "chips quotes" : "chips" }, found.slice(0, FOUND).map((i) => this.chip(i, SNIPPET))),
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
    element("color-label").hidden = true;
    select.addEventListener("change", () => this.setColoring(this.choices.find((one) => one.kind === select.value).make()));
    element("theme").textContent = isDark() ? "Light" : "Dark";
    element("theme").addEventListener("click", () => chooseTheme(isDark() ? "light" : "dark"));
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
  recallTheme();
  const page = new Page();
  window.graspelReport = page;  // for tests, and for readers who like to explore
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => page.load());
  else page.load();
}
