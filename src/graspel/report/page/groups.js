// The section of groups: a card for each, or a table in which a card opens, with what sets the group apart, what is
// typical of it, and its neighbors.
import { scaleLegend } from "./coloring.js";
import { button, element, fill, make, scrollBox, sortableTable } from "./dom.js";
import { classColor, classShape } from "./theme.js";
import { formatCount, formatNumber, formatShare, plural } from "./words.js";

const CARDS = 8;  // groups up to which each has a card; of more the cards open in a table
const QUOTED = 160;  // characters of a text on a card

export function showGroups(page, groups) {
  const host = element("groups");
  const { clusters } = page.points;
  if (!clusters || !groups.length) {
    element("groups-section").remove();
    return;
  }
  const order = groups.map((_, k) => k).sort((a, b) => clusters.sizes[b] - clusters.sizes[a]);
  host.classList.toggle("cards", groups.length <= CARDS);
  fill(host, groups.length <= CARDS ? order.map((k) => card(page, groups[k], k)) : groupTable(page, groups, order));
}

// What a sign for a class or group looks like on the map.
export function swatch(k) {
  const made = make("span", { className: `swatch shape-${classShape(k)}`, "aria-hidden": "true" });
  made.style.background = classColor(k);
  made.dataset.group = k;
  return made;
}

// One row for each group; its card opens beneath it.
function groupTable(page, groups, order) {
  const { clusters, known } = page.points;
  const columns = [
    { name: "group", key: (k) => clusters.names[k].toLowerCase() },
    { name: "points", key: (k) => -clusters.sizes[k], number: true },
  ];
  const told = groups.some((group) => apart(group));
  if (told) columns.push({ name: "what sets it apart", key: (k) => apart(groups[k]).toLowerCase(), wide: true });
  const judged = groups.some((group) => group.agreement !== null);
  if (judged) columns.push({ name: "graphs that agree", key: (k) => -groups[k].agreement, number: true, wide: true });
  if (known) columns.push({ name: "known classes", key: (k) => classesOf(page, groups[k]).toLowerCase(), wide: true });
  const cells = (k) => [
    nameButton(page, groups[k], k, columns.length),
    selecting(page, formatCount(clusters.sizes[k]), page.points.clusters, k),
    ...(told ? [apart(groups[k])] : []),
    ...(judged ? [agreeing(groups[k])] : []),
    ...(known ? [classesOf(page, groups[k])] : []),
  ];
  return scrollBox("groups", sortableTable(columns, order.map((k) => ({ item: k, id: `row-${k}`, cells: cells(k) }))));
}

const apart = (group) => (group.words?.length ? group.words.slice(0, 5).join(", ") : group.features.slice(0, 2).map((one) => one.words).join("; "));
const classesOf = (page, group) => group.classes.map(([c, part]) => `${page.points.known.names[c]} (${formatShare(part)})`).join(", ");
const agreeing = ({ agreement, graphs }) => (agreement === null ? "" : `${formatNumber(agreement * graphs)} of ${graphs}`);

function nameButton(page, group, k, span) {
  const opener = button([swatch(k), make("span", { className: "group-name", "data-group": k }, page.points.clusters.names[k])], () => {
    const row = opener.closest("tr");
    const isOpen = row.nextElementSibling?.classList.contains("detail");
    if (isOpen) row.nextElementSibling.remove();
    else row.after(make("tr", { className: "detail" }, make("td", { colSpan: span }, card(page, group, k))));
    opener.setAttribute("aria-expanded", String(!isOpen));
  }, { className: "key", "aria-expanded": "false" });
  return opener;
}

// A number of points that selects them on the map.
function selecting(page, text, coloring, k) {
  return button(text, () => page.choose(page.points.members(coloring, k), true), { className: "link", title: "select these points on the map" });
}

function card(page, group, k) {
  const { points } = page;
  const { clusters } = points;
  const share = clusters.sizes[k] / clusters.sizes.reduce((a, b) => a + b, 0);
  const agreement = group.agreement === null ? "" : `; on average ${agreeing(group)} graphs agree on its points`;
  const picture = group.picture
    ? make("img", { className: "mean", alt: `mean picture of ${clusters.names[k]}`, src: `data:image/png;base64,${group.picture}` }) : null;
  const inside = group.classes.length && points.known ? make("p", {}, `Classes: ${classesOf(page, group)}`) : null;
  return make("article", { className: "card", id: `group-${k}` },
    make("h3", {}, swatch(k), make("span", { className: "name" }, clusters.names[k])),
    make("p", {}, selecting(page, plural(clusters.sizes[k], "point"), clusters, k), ` (${formatShare(share)})${agreement}`),
    make("p", { className: "actions" }, button("Show on the map", () => page.highlight(k, true)), " ", renaming(page, k)),
    picture, inside, wordList(page, group), featureList(page, group, k),
    pointList(page, "Most typical", group.central), pointList(page, "Least typical", group.outlying), nearest(page, group));
}

// Words that the texts of this group hold more often than others; each finds the texts with it.
function wordList(page, group) {
  if (!group.words?.length) return null;
  const chips = group.words.map((word) => button(word, () => page.searchFor(word), { className: "chip" }));
  return make("div", {}, make("h4", {}, "Its words"), make("div", { className: "chips" }, chips));
}

function featureList(page, group, k) {
  if (!group.features.length) return null;
  const { classes } = page.points.clusters;
  const rows = group.features.map((one) => {
    const drawn = one.column >= 0
      ? page.columns.distribution(one.column, (i) => classes[i] === k, classColor(k)) : null;
    return make("li", {}, make("span", {}, one.words), make("span", { className: "note" }, ` effect ${formatNumber(one.effect)}`), drawn);
  });
  return make("div", {}, make("h4", {}, "What sets it apart"), make("ol", { className: "features" }, rows));
}

function pointList(page, title, list) {
  if (!list.length) return null;
  const { points } = page;
  const quotes = points.texts && !page.thumbnails.exist;
  const chips = list.map((i) => (quotes ? page.chip(i, QUOTED) : page.chip(i)));
  return make("div", {}, make("h4", {}, title), make("div", { className: quotes ? "chips quotes" : "chips" }, chips));
}

function nearest(page, group) {
  if (!group.nearest.length) return null;
  const chips = group.nearest.map(([k, share]) => button(
    `${page.points.clusters.names[k]}${share > 1e-6 ? ` (${formatShare(share)})` : ""}`, () => page.highlight(k, true), { className: "chip" }));
  const some = group.nearest.some(([, share]) => share > 1e-6);
  return make("div", {}, make("h4", {}, some ? "Nearest groups (share of its near points)" : "Groups that an edge leads to"), make("div", { className: "chips" }, chips));
}

// A button that turns into a field for the new name.
function renaming(page, k) {
  const host = make("span", {});
  const close = () => fill(host, button("Rename", open));
  const open = () => {
    const field = make("input", { type: "text", value: page.points.clusters.names[k], maxLength: 60, "aria-label": "new name of the group" });
    const keep = () => {
      page.rename(k, field.value);
      close();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") keep();
      else if (event.key === "Escape") close();
    });
    fill(host, field, " ", button("Keep", keep));
    field.focus();
    field.select();
  };
  close();
  return host;
}

export function legend(page) {
  const { coloring } = page;
  if (!coloring) return [];
  if (coloring.positions) return scaleLegend(coloring);
  const order = coloring.sizes.map((_, k) => k).sort((a, b) => coloring.sizes[b] - coloring.sizes[a]);
  return order.map((k) => button([swatch(k), make("span", {}, `${coloring.names[k]} `), make("span", { className: "note" }, formatCount(coloring.sizes[k]))],
    () => page.highlight(page.lit === k ? -1 : k), { className: "key", "aria-pressed": String(page.lit === k) }));
}
