// Colors: those of classes, and those that the drawings take from the style sheet, light or dark like the reader's system.

const LIGHT = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#1A1A1A", "#B5A400", "#7711DD", "#8A5A33"];
const DARK = ["#3FA2E0", "#E69F00", "#22B98A", "#F07A3A", "#DC94BC", "#8CD0F7", "#FFFFFF", "#F0E442", "#B58CFF", "#C79A78"];
const SHAPES = 6;  // circle, square, diamond, triangle, plus, triangle on its tip

export const isDark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
export const classColors = () => (isDark() ? DARK : LIGHT);
export const classColor = (k) => classColors()[k % LIGHT.length];
export const classShape = (k) => Math.floor(k / LIGHT.length) % SHAPES;
export const styleColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function onThemeChange(act) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);
}
