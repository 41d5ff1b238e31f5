// The section of groups: a card for each, with what sets it apart, what is typical of it, and its neighbors.
import { button, element, fill, make } from "./dom.js";
import { classColor } from "./theme.js";
import { formatCount, formatNumber, formatShare, plural } from "./words.js";

export function showGroups(page, groups) {
  const host = element("groups");
  const { clusters } = page.points;
  if (!clusters || !groups.length) {
    element("groups-section").remove();
    return;
  }
  const largest = Math.max(...groups.flatMap((group) => group.features.map((one) => Math.abs(one.effect))), 1e-9);
  const order = groups.map((_, k) => k).sort((a, b) => clusters.sizes[b] - clusters.sizes[a]);
  fill(host, order.map((k) => card(page, groups[k], k, Math.min(largest, 4))));
}

function card(page, group, k, largest) {
  const { points } = page;
  const { clusters } = points;
  const share = clusters.sizes[k] / clusters.sizes.reduce((a, b) => a + b, 0);
  const agreement = group.agreement === null ? "" : `; ${formatShare(group.agreement)} of the votes of several graphs agree`;
  const swatch = make("span", { className: "swatch", "aria-hidden": "true" });
  swatch.style.background = classColor(k);
  swatch.dataset.group = k;
  const picture = group.picture
    ? make("img", { className: "mean", alt: `mean picture of ${clusters.names[k]}`, src: `data:image/png;base64,${group.picture}` }) : null;
  const inside = group.classes.length && points.known
    ? make("p", {}, `Classes: ${group.classes.map(([c, part]) => `${points.known.names[c]} (${formatShare(part)})`).join(", ")}`) : null;
  return make("article", { className: "card", id: `group-${k}` },
    make("h3", {}, swatch, make("span", { className: "name" }, clusters.names[k])),
    make("p", {}, `${plural(clusters.sizes[k], "point")} (${formatShare(share)})${agreement}`),
    make("p", { className: "actions" }, button("Show on the map", () => page.highlight(k, true)), " ", renaming(page, k)),
    picture, inside, featureList(group, largest),
    pointList(page, "Most typical", group.central), pointList(page, "Least typical", group.outlying), nearest(page, group));
}

function featureList(group, largest) {
  if (!group.features.length) return null;
  const rows = group.features.map((one) => {
    const bar = make("span", { className: `effect ${one.effect > 0 ? "high" : "low"}`, "aria-hidden": "true" }, make("span", {}));
    bar.firstChild.style.width = `${Math.min(100, (100 * Math.abs(one.effect)) / largest)}%`;
    return make("li", {}, make("span", {}, one.words), make("span", { className: "note" }, ` effect ${formatNumber(one.effect)}`), bar);
  });
  return make("div", {}, make("h4", {}, "What sets it apart"), make("ol", { className: "features" }, rows));
}

function pointList(page, title, list) {
  return list.length ? make("div", {}, make("h4", {}, title), make("div", { className: "chips" }, list.map((i) => page.chip(i)))) : null;
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
  const order = coloring.sizes.map((_, k) => k).sort((a, b) => coloring.sizes[b] - coloring.sizes[a]);
  return order.map((k) => {
    const swatch = make("span", { className: "swatch", "aria-hidden": "true" });
    swatch.style.background = classColor(k);
    return button([swatch, make("span", {}, `${coloring.names[k]} `), make("span", { className: "note" }, formatCount(coloring.sizes[k]))],
      () => page.highlight(page.lit === k ? -1 : k), { className: "key", "aria-pressed": String(page.lit === k) });
  });
}
