// Numbers and names as text, the search over points, and tables as CSV. No element of the page is touched here.

export const formatCount = (number) => number.toLocaleString("en");
export const formatShare = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`);
export const formatNumber = (number) => {
  if (!Number.isFinite(number)) return "unknown";
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return number.toExponential(2);
  return Number(number.toPrecision(3)).toString();
};
// A value of the data, with all digits that single precision holds.
export const formatValue = (number) => {
  const size = Math.abs(number);
  if (!Number.isFinite(number) || (size !== 0 && (size < 1e-4 || size >= 1e12))) return String(Number(number.toPrecision(4)));
  return Number(number.toPrecision(7)).toLocaleString("en", { useGrouping: size >= 10000, maximumSignificantDigits: size >= 1e5 ? 7 : 5 });
};
// Days since 1970 as a date.
export const formatDate = (days) => (Math.abs(days) < 1e8 ? new Date(Math.round(days) * 864e5).toISOString().slice(0, 10) : `${formatNumber(days)} days`);
export const plural = (number, word) => `${formatCount(number)} ${word}${number === 1 ? "" : "s"}`;

export function shortened(text, length) {
  const letters = Array.from(text);
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : text;
}

// The points whose number, name, text, class or cluster holds the query, the best match first; where none holds it as a
// whole, those that hold all its words.
export function search(query, n, describe, most = Infinity) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = words.join(" ");
  const found = [[], [], [], []];
  if (!words.length) return [];
  for (let i = 0; i < n; i++) {
    const { id, name, more } = describe(i);
    const title = name.toLowerCase();
    const line = `${id} ${title} ${more}`.toLowerCase();
    if (String(id) === whole || title === whole) found[0].push(i);
    else if (title.includes(whole)) found[1].push(i);
    else if (line.includes(whole)) found[2].push(i);
    else if (words.length > 1 && words.every((word) => line.includes(word))) found[3].push(i);
  }
  const best = [...found[0], ...found[1], ...found[2]];
  return (best.length ? best : found[3]).slice(0, most);
}

// A table as CSV. A text that a spreadsheet would take for a formula gets an apostrophe in front.
export function toCSV(columns, rows) {
  const cell = (value) => {
    let text = String(value ?? "");
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// A mark of an axis.
export function formatMark(mark) {
  const size = Math.abs(mark);
  if (size !== 0 && (size < 1e-4 || size >= 1e5)) return mark.toExponential().replace("+", "");
  return String(Number(mark.toPrecision(8)));
}

// Round numbers between low and high, about `wanted` of them.
export function ticks(low, high, wanted = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => span / one <= wanted) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

// A text cut at the places where it holds one of the words: [part, whether it is one of them].
export function splitAtWords(text, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).sort((a, b) => b.length - a.length);
  if (!words.length) return [[text, false]];
  const low = text.toLowerCase();
  if (low.length !== text.length) return [[text, false]];  // letters whose small form is longer: places would not fit
  const parts = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    const word = words.find((one) => low.startsWith(one, at));
    if (!word) at++;
    else {
      if (at > from) parts.push([text.slice(from, at), false]);
      parts.push([text.slice(at, at + word.length), true]);
      at += word.length;
      from = at;
    }
  }
  if (from < text.length) parts.push([text.slice(from), false]);
  return parts;
}

// A name on at most `rows` lines of about `width` letters, broken between words.
export function wrapped(text, width, rows) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  const kept = lines.slice(0, rows).map((line) => shortened(line, width + 4));
  if (lines.length > rows) kept[rows - 1] = `${shortened(kept[rows - 1], width + 2).replace(/[…,]$/, "")}…`;
  return kept;
}
