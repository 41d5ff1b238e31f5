// Elements of the page. Texts of the user enter it here only, as text nodes, never as markup.

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

export function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
