// What is known of every point: its number, name, text, class and cluster. Renamed groups are kept in the browser.
import { bytes, floats, interleave, ints } from "./unpack.js";
import { search, shortened } from "./words.js";

export class Points {
  constructor(first, key) {
    this.ids = ints(first.ids);
    this.n = this.ids.length;
    this.map = interleave(floats(first.map), this.n);
    this.colorings = first.colorings.map((one) => ({ ...one, classes: bytes(one.classes) }));
    this.clusters = this.colorings.find((one) => one.kind === "cluster") ?? null;
    this.known = this.colorings.find((one) => one.kind === "class") ?? null;
    this.key = `graspel names of ${key}`;
    this.names = null;
    this.texts = null;
    this.recallNames();
  }

  // Show another layer of clusters; the names that were kept are those of the first one.
  setClusters(coloring) {
    this.colorings = this.colorings.map((one) => (one === this.clusters ? coloring : one));
    this.clusters = coloring;
  }

  addWords(names, texts) {
    Object.assign(this, { names, texts });
  }

  name(i) {
    return this.names?.[i] || `point ${this.ids[i]}`;
  }

  // A few words to tell the point from others: its name, or the beginning of its text.
  title(i, length = 40) {
    const words = this.names?.[i] || this.texts?.[i] || `point ${this.ids[i]}`;
    return shortened(words, length);
  }

  cluster(i) {
    return this.clusters ? this.clusters.names[this.clusters.classes[i]] : null;
  }

  label(i) {
    return this.known ? this.known.names[this.known.classes[i]] : null;
  }

  // The members of the group of a point, and a key for what is kept about them.
  peers(i) {
    const { clusters } = this;
    if (!clusters) return ["all", () => Array.from({ length: this.n }, (_, j) => j)];
    const k = clusters.classes[i];
    return [`${clusters.layer ?? ""} ${k}`, () => this.members(clusters, k)];
  }

  describe(i) {
    const parts = [this.title(i, 60)];
    if (this.known) parts.push(`class ${this.label(i)}`);
    if (this.clusters) parts.push(`group ${this.cluster(i)}`);
    return parts.join("\n");
  }

  find(query, most) {
    const more = (i) => `${this.cluster(i) ?? ""} ${this.label(i) ?? ""} ${this.texts?.[i] ?? ""}`;
    return search(query, this.n, (i) => ({ id: this.ids[i], name: this.names?.[i] ?? "", more: more(i) }), most);
  }

  members(coloring, k) {
    const found = [];
    for (let i = 0; i < this.n; i++) if (coloring.classes[i] === k) found.push(i);
    return found;
  }

  rename(k, name) {
    this.clusters.names[k] = shortened(name.trim() || this.clusters.names[k], 60);
    if (this.clusters.layer) return;
    try {
      window.localStorage.setItem(this.key, JSON.stringify(this.clusters.names));
    } catch (error) {
      // A browser may keep nothing for pages from the disk: the names then last as long as the page is open.
    }
  }

  recallNames() {
    try {
      const kept = JSON.parse(window.localStorage.getItem(this.key));
      if (Array.isArray(kept) && kept.length === this.clusters?.names.length) this.clusters.names = kept.map((name) => shortened(String(name), 60));
    } catch (error) {
      // Nothing was kept.
    }
  }
}
