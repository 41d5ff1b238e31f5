// Elements of the page. Texts of the user enter it here only, as text nodes, never as markup.
import { splitAtWords } from "./words.js";

export const element = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, act, properties = {}) =>
  make("button", { type: "button", on: { click: act }, ...properties }, text);

const SVG = "http://www.w3.org/2000/svg";
export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat());
  return made;
}

// A text in which the words of a search are marked.
export const markWords = (text, query) => splitAtWords(text, query ?? "").map(([part, isWord]) => (isWord ? make("mark", {}, part) : part));

export function fill(target, ...children) {
  target.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

// A table that scrolls inside its own box, which the keyboard reaches.
export function scrollBox(label, ...children) {
  return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, ...children);
}

export function table(columns, rows) {
  const body = make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map((cell) => make("td", {}, cell)))));
  return make("table", {}, make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col" }, name)))), body);
}

// A table whose rows are sorted by a click on the name of a column, and backwards by a second one. A column is
// { name, key, number, wide }, where `key` gives the value of an item to sort by; a row is { item, id, cells }.
export function sortableTable(columns, rows) {
  const kind = ({ number, wide }) => [number ? "number" : "", wide ? "wide" : ""].filter(Boolean).join(" ");
  const body = make("tbody");
  const show = (order) => fill(body, order.map(({ id, cells }) => make("tr", { id },
    cells.map((cell, k) => make("td", { className: kind(columns[k]) }, cell)))));
  const heads = columns.map((column) => {
    const { name, key } = column;
    const head = make("th", { scope: "col", className: kind(column) }, button(name, () => {
      const turn = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
      const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      show([...rows].sort((a, b) => turn * before(key(a.item), key(b.item))));
    }, { className: "sort" }));
    return head;
  });
  show(rows);
  return make("table", { className: "sortable" }, make("thead", {}, make("tr", {}, heads)), body);
}

export function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
