// The sections "against known classes" and "anomalies".
import { element, fill, make, scrollBox, table } from "./dom.js";
import { isDark } from "./theme.js";
import { formatCount, formatNumber, formatShare, plural } from "./words.js";

export function showClasses(page, found) {
  if (!found) {
    element("classes-section").remove();
    return;
  }
  const { known, clusters } = page.points;
  const parts = found.sentences.map((sentence) => make("p", {}, sentence));
  if (found.table && clusters) parts.push(make("h3", {}, "Groups (rows) against classes (columns), in points"), scrollBox("groups against classes", heatMap(found, clusters, known)));
  if (found.mixed.length) parts.push(make("h3", {}, "What is mixed"), make("ul", {}, found.mixed.map((sentence) => make("li", {}, sentence))));
  else if (found.table) parts.push(make("p", {}, "No class is spread over several groups, and no group holds several classes."));
  parts.push(make("h3", {}, "Labels to check"), ...doubtful(page, found));
  fill(element("classes"), parts);
}

function heatMap(found, clusters, known) {
  const totals = found.table.map((row) => row.reduce((a, b) => a + b, 0));
  const head = make("tr", {}, make("th", { scope: "col" }, ""), found.columns.map((c) => make("th", { scope: "col" }, known.names[c])));
  const rows = found.rows.map((g) => make("tr", {}, make("th", { scope: "row", className: "group-name", "data-group": g }, clusters.names[g]),
    found.columns.map((c) => {
      const number = found.table[g][c];
      const share = number / Math.max(totals[g], 1);
      const cell = make("td", { title: `${formatShare(share)} of this group` }, number ? formatCount(number) : "");
      cell.style.setProperty("--share", share.toFixed(3));
      if (number) cell.classList.add(share > 0.45 ? "strong" : "weak");
      return cell;
    })));
  return make("table", { className: `heat${isDark() ? " dark" : ""}` }, make("thead", {}, head), make("tbody", {}, rows));
}

function doubtful(page, { doubtful: list, n_doubtful: number }) {
  if (!list.length) return [make("p", {}, "No label looks wrong: the points near every point have its label.")];
  const { points } = page;
  const rows = list.map(({ point, suggested, score }) => [named(page, point), points.label(point), points.known.names[suggested], score.toFixed(2)]);
  return [
    make("p", { className: "note" }, `${plural(number, "point")} whose near points mostly have another label${list.length < number ? `; these are the first ${formatCount(list.length)}` : ""}, the most doubtful first. The score is the share of votes for the other class minus the share for its own.`),
    scrollBox("labels to check", table(["point", "its label", "near points say", "score"], rows)),
  ];
}

// A point in a table; where its button is a picture, its name stands beside it.
function named(page, point) {
  const chip = page.chip(point);
  return make("div", { className: "chips" }, chip, chip.classList.contains("picture") ? page.points.title(point) : null);
}

export function showAnomalies(page, found) {
  const outliers = found.outliers.map(([point, score]) => [named(page, point), formatNumber(score)]);
  const copies = found.copies.map(({ points, number }) => [make("div", { className: "chips" }, points.map((i) => page.chip(i))), formatCount(number)]);
  const bridges = [
    ...found.edges.map(([p, q, cut]) => [make("div", { className: "chips" }, page.chip(p), page.chip(q)), "edge", formatCount(cut), cut]),
    ...found.nodes.map(([p, cut]) => [page.chip(p), "point", formatCount(cut), cut]),
  ].sort((a, b) => b[3] - a[3]).map((row) => row.slice(0, 3));
  fill(element("anomalies"),
    block("Outliers", "How many times farther each is from the points near it than is usual there.", ["point", "times"], outliers),
    block("Copies", found.n_copies ? `${plural(found.n_copies, "point")} equal to an earlier one.` : "No two points are equal.", ["equal points", "number"], copies),
    block("Bridges", bridges.length ? "Single edges and points without which the graph falls apart, and how many points are then cut off." : "No single edge or point connects five or more points to the rest.", ["bridge", "kind", "points cut off"], bridges));
}

function block(title, note, columns, rows) {
  return make("div", {}, make("h3", {}, title), make("p", { className: "note" }, note), rows.length ? scrollBox(title.toLowerCase(), table(columns, rows)) : null);
}
