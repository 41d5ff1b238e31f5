// Colors: those of classes, and those that the drawings take from the style sheet, light or dark like the reader's system.

const LIGHT = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#1A1A1A", "#B5A400", "#7711DD", "#8A5A33"];
const DARK = ["#3FA2E0", "#E69F00", "#22B98A", "#F07A3A", "#DC94BC", "#8CD0F7", "#FFFFFF", "#F0E442", "#B58CFF", "#C79A78"];
const SHAPES = 6;  // circle, square, diamond, triangle, plus, triangle on its tip

const RAMPS = [["#3b0f70", "#3f6ab0", "#1f9e89", "#7fb53f", "#e0a000"], ["#6a5be0", "#3fa2e0", "#22b98a", "#b5d33d", "#ffe45c"]];
const KEPT = "graspel theme";
const listeners = [];

const systemIsDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
export const isDark = () => (document.documentElement.dataset.theme ?? (systemIsDark() ? "dark" : "light")) === "dark";
export const classColors = () => (isDark() ? DARK : LIGHT);
export const classColor = (k) => classColors()[k % LIGHT.length];
export const classShape = (k) => Math.floor(k / LIGHT.length) % SHAPES;
export const styleColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// The color of a value from 0 to 1.
export function rampColor(share) {
  const colors = RAMPS[Number(isDark())];
  const at = Math.max(0, Math.min(colors.length - 1, share * (colors.length - 1)));
  const k = Math.min(Math.floor(at), colors.length - 2);
  const [from, to] = [rgb(colors[k]), rgb(colors[k + 1])];
  return `#${from.map((v, j) => Math.round(v + (at - k) * (to[j] - v)).toString(16).padStart(2, "0")).join("")}`;
}

export function onThemeChange(act) {
  listeners.push(act);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);
}

// Light or dark, whatever the system says; a browser that keeps nothing for pages from the disk forgets it.
export function chooseTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    window.localStorage.setItem(KEPT, name);
  } catch (error) {
    // It lasts as long as the page is open.
  }
  for (const act of listeners) act();
}

export function recallTheme() {
  try {
    const kept = window.localStorage.getItem(KEPT);
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch (error) {
    // Nothing was kept.
  }
}
