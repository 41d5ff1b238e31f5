// The sections "against known classes" and "anomalies".
import { button, element, fill, make, scrollBox, table } from "./dom.js";
import { formatCount, formatNumber, formatShare, plural } from "./words.js";

const COMPACT = 12;  // classes from which the table is narrow: shares in small cells under upright names
const NAMED_COLUMNS = 2;  // columns named in which an outlier is odd

export function showClasses(page, found) {
  if (!found) {
    element("classes-section").remove();
    return;
  }
  const { known, clusters } = page.points;
  const parts = found.sentences.map((sentence) => make("p", {}, sentence));
  if (found.table && clusters) {
    const isCompact = found.columns.length > COMPACT;
    parts.push(make("h3", {}, `Groups (rows) against classes (columns), ${isCompact ? "in percent of the group" : "in points"}`),
      make("p", { className: "note" }, "A cell selects its points on the map."), scrollBox("groups against classes", heatMap(page, found, isCompact)));
  }
  if (found.mixed.length) parts.push(make("h3", {}, "What is mixed"), make("ul", {}, found.mixed.map((one) => make("li", {}, mixture(page, one)))));
  else if (found.table) parts.push(make("p", {}, "No class is spread over several groups, and no group holds several classes."));
  parts.push(make("h3", {}, "Labels to check"), ...doubtful(page, found));
  fill(element("classes"), parts);
}

// A sentence about what is mixed, which selects the points that it is about.
function mixture(page, { words, group, known }) {
  const { points, mainClusters } = page;
  return button(words, () => page.choose(known === null ? points.members(mainClusters, group) : points.members(points.known, known), true), { className: "link" });
}

function heatMap(page, found, isCompact) {
  const { mainClusters: clusters, points: { known } } = page;
  const totals = found.table.map((row) => row.reduce((a, b) => a + b, 0));
  const head = make("tr", {}, make("th", { scope: "col" }, ""), found.columns.map((c) => make("th", { scope: "col", title: known.names[c] }, make("span", {}, known.names[c]))));
  const rows = found.rows.map((g) => make("tr", {}, make("th", { scope: "row", className: "group-name", "data-group": g }, clusters.names[g]),
    found.columns.map((c) => {
      const number = found.table[g][c];
      const share = number / Math.max(totals[g], 1);
      const say = `${plural(number, "point")} of class ${known.names[c]}, ${formatShare(share)} of this group`;
      const text = isCompact ? String(Math.round(100 * share) || "") : formatCount(number);
      const members = () => page.points.members(clusters, g).filter((i) => known.classes[i] === c);
      const cell = make("td", { title: say }, number ? button(text, () => page.choose(members(), true), { className: "cell", "aria-label": say }) : "");
      cell.style.setProperty("--share", share.toFixed(3));
      if (number) cell.classList.add(share > 0.45 ? "strong" : "weak");
      return cell;
    })));
  return make("table", { className: `heat${isCompact ? " compact" : ""}` }, make("thead", {}, head), make("tbody", {}, rows));
}

function doubtful(page, { doubtful: list, n_doubtful: number }) {
  if (!list.length) return [make("p", {}, "No label looks wrong: the points near every point have its label.")];
  const rows = list.map(({ point, label, suggested, share, near }) => [named(page, point), label, suggested, formatShare(share),
    near.map((i) => named(page, i))]);
  const sure = list.filter((one) => one.confident).map((one) => one.point);
  return [
    make("p", { className: "note" }, `${plural(number, "point")} whose near points mostly have another label${list.length < number ? `; these are the first ${formatCount(list.length)}` : ""}, the most doubtful first. `
      + `${sure.length ? `The votes clearly contradict ${sure.length === 1 ? "1 label" : `${formatCount(sure.length)} labels`}` : "No label is clearly contradicted"}; the others may lie where classes meet.`),
    make("p", {}, sure.length ? [choosing(page, sure, `Select the ${formatCount(sure.length)} clear ${sure.length === 1 ? "one" : "ones"}`), " "] : null,
      choosing(page, list.map((one) => one.point), list.length < number ? `Select these ${formatCount(list.length)}` : "Select all of them")),
    scrollBox("labels to check", table(["point", "its label", "near points say", "share of the votes", "such as"], rows)),
  ];
}

// A point in a table; where its button is a picture, its name stands beside it.
function named(page, point) {
  const chip = page.chip(point);
  return make("div", { className: "chips" }, chip, chip.classList.contains("picture") ? page.points.title(point) : null);
}

export function showAnomalies(page, found) {
  const hasReasons = found.outliers.some(([, , why]) => why.length);
  const outliers = found.outliers.map(([point, score, why]) => [named(page, point), formatNumber(score), ...(hasReasons ? [oddColumns(why)] : [])]);
  const more = found.n_outliers > found.outliers.length ? ` These are the first of ${formatCount(found.n_outliers)}.` : "";
  const nearly = found.nearly.map((pair) => [make("div", { className: "chips" }, pair.map((i) => page.chip(i))), "nearly"]);
  const copies = found.copies.map(({ points, number }) => [make("div", { className: "chips" }, points.map((i) => page.chip(i))), formatCount(number)]);
  const bridges = [
    ...found.edges.map(([p, q, cut]) => [make("div", { className: "chips" }, page.chip(p), page.chip(q)), "edge", formatCount(cut), cut]),
    ...found.nodes.map(([p, cut]) => [page.chip(p), "point", formatCount(cut), cut]),
  ].sort((a, b) => b[3] - a[3]).map((row) => row.slice(0, 3));
  fill(element("anomalies"),
    block("Outliers", outliers.length ? `How many times farther each is from the points near it than is usual there.${more}` : "No point lies far from all others.", ["point", "times", ...(hasReasons ? ["odd in"] : [])], outliers),
    block("Copies", `${found.n_copies ? `${plural(found.n_copies, "point")} equal to an earlier one` : "No two points are equal"}${found.n_nearly ? `; ${formatCount(found.n_nearly)} nearly so` : ""}.`, ["equal points", "number"], [...copies, ...nearly]),
    block("Bridges", bridges.length ? "Single edges and points without which the graph falls apart, and how many points are then cut off." : "No single edge or point connects five or more points to the rest.", ["bridge", "kind", "points cut off"], bridges));
}

// The columns that make a point an outlier: name, value, and the values near it.
function oddColumns(why) {
  if (!why.length) return "no single column";
  return make("ul", { className: "plain" }, why.slice(0, NAMED_COLUMNS).map(([name, value, usual]) => make("li", {}, make("strong", {}, name), ` ${value}`,
    make("span", { className: "note" }, ` near: ${usual}`))));
}

const choosing = (page, points, words) => button(words, () => page.choose(points, true));

function block(title, note, columns, rows) {
  return make("div", {}, make("h3", {}, title), make("p", { className: "note" }, note), rows.length ? scrollBox(title.toLowerCase(), table(columns, rows)) : null);
}
