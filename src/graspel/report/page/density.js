// Sizes of points: small where points are dense, and large where they are sparse, so that single points can be seen in
// both. Static pictures do the same (`graspel.plot.scatter`).

const ROOM = 600;  // pixels of a drawing on which points have their full width
const [BINS, BINS_IN_SPACE] = [64, 24];  // of the histogram on each axis
const [DENSEST, SPARSEST] = [0.6, 1.25];  // factors of a point's width where points are densest and sparsest

// The usual width of a point in pixels: smaller where there are many points, or little room for them; it grows more
// slowly than the drawing.
export function pointSize({ points, zoom, width, height }) {
  const n = points.length / 3;
  const base = n > 20000 ? 2.4 : n > 5000 ? 3.2 : n > 1000 ? 4.6 : 7.5;
  const room = Math.min(1, Math.sqrt(Math.min(width, height) / ROOM));
  return Math.min(base * room * Math.max(1, zoom) ** 0.4, 16);
}

// For every point a factor of its width: the fourth root of the median density over its own, within limits (the root
// of it for the area). Density is the number of points in its cell of a histogram and in those around it.
export function sizesByDensity(camera) {
  const { points, center, size, inSpace } = camera;
  const n = points.length / 3;
  const bins = inSpace ? BINS_IN_SPACE : BINS;
  if (n < BINS || size[0] === 0 || size[1] === 0) return new Float32Array(n).fill(1);
  const side = bins + 2;  // one empty cell around
  const step = inSpace ? [1, side, side * side] : [1, side];
  const cellOf = (i) => {
    let cell = 0;
    for (let a = 0; a < step.length; a++) {
      const at = size[a] > 0 ? Math.floor(bins * ((points[3 * i + a] - center[a]) / size[a] + 0.5)) : 0;
      cell += step[a] * (1 + Math.max(0, Math.min(bins - 1, at)));
    }
    return cell;
  };
  const cells = Uint32Array.from({ length: n }, (_, i) => cellOf(i));
  let counts = new Float32Array(side ** step.length);
  for (const cell of cells) counts[cell]++;
  for (const shift of step) counts = counts.map((own, k) => own + (counts[k - shift] ?? 0) + (counts[k + shift] ?? 0));
  const density = Float32Array.from(cells, (cell) => counts[cell]);
  const median = density.slice().sort()[n >> 1];
  return density.map((own) => Math.max(DENSEST, Math.min(SPARSEST, (median / own) ** 0.25)));
}
