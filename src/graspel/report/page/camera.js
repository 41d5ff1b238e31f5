// The camera: where points in the plane or in space lie on the screen. Parallel projection, in pixels.

const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

// The interval that holds most of the values: points far outside do not make all others small.
export function mainRange(values, stride, offset) {
  const n = Math.floor(values.length / stride);
  const sorted = new Float32Array(n);
  for (let i = 0; i < n; i++) sorted[i] = values[stride * i + offset];
  sorted.sort();
  const [low, high] = [sorted[0], sorted[n - 1]];
  const [q1, q9] = [sorted[Math.floor(0.005 * (n - 1))], sorted[Math.ceil(0.995 * (n - 1))]];
  return high - low > 3 * (q9 - q1) && q9 > q1 ? [q1, q9] : [low, high];
}

export class Camera {
  // `view`: right, up and towards the reader, as columns; null in the plane.
  constructor(points, view = null) {
    this.points = points;
    this.inSpace = view !== null;
    this.start = view ? [0, 1, 2].map((k) => view.map((row) => row[k])) : IDENTITY;
    const ranges = [0, 1, 2].map((axis) => mainRange(points, 3, axis));
    this.size = ranges.map(([low, high]) => high - low);
    this.radius = 0.5 * Math.hypot(...this.size) || 1;
    this.center = this.findMiddle(ranges);
    this.width = this.height = 1;
    this.reset();
  }

  // The middle of the points as they are seen at the start, so that they stand in the middle of the drawing.
  findMiddle(ranges) {
    if (!this.inSpace) return ranges.map(([low, high]) => (low + high) / 2);
    const turned = new Float32Array(this.points.length);
    const { points, start } = this;
    for (let k = 0; k < points.length; k += 3) {
      for (let a = 0; a < 3; a++) turned[k + a] = start[a][0] * points[k] + start[a][1] * points[k + 1] + start[a][2] * points[k + 2];
    }
    const seen = [0, 1, 2].map((axis) => mainRange(turned, 3, axis));
    this.seen = seen.map(([low, high]) => high - low);
    return [0, 1, 2].map((a) => seen.reduce((sum, [low, high], k) => sum + (start[k][a] * (low + high)) / 2, 0));
  }

  reset() {
    this.axes = this.start.map((row) => [...row]);
    this.pan = [0, 0];
    this.zoom = 1;
  }

  resize(width, height) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    const margin = 0.92;
    const [across, high] = this.inSpace ? this.seen : this.size;
    this.unit = margin * Math.min(this.width / (across || 1e-9), this.height / (high || 1e-9));
    if (!Number.isFinite(this.unit) || this.size[0] + this.size[1] === 0) this.unit = 1;
  }

  get scale() {
    return this.unit * this.zoom;
  }

  // Screen coordinates of point i: x to the right, y downwards.
  project(i) {
    const [x, y, z] = [0, 1, 2].map((a) => this.points[3 * i + a] - this.center[a]);
    const [right, up] = this.axes;
    return [
      this.width / 2 + this.pan[0] + this.scale * (right[0] * x + right[1] * y + right[2] * z),
      this.height / 2 + this.pan[1] - this.scale * (up[0] * x + up[1] * y + up[2] * z),
    ];
  }

  projectAll() {
    const n = this.points.length / 3;
    const out = new Float32Array(2 * n);
    const { points, center: c, scale: s } = this;
    const [[a, b, d], [e, f, g]] = this.axes;
    const [ox, oy] = [this.width / 2 + this.pan[0], this.height / 2 + this.pan[1]];
    for (let i = 0; i < n; i++) {
      const [x, y, z] = [points[3 * i] - c[0], points[3 * i + 1] - c[1], points[3 * i + 2] - c[2]];
      out[2 * i] = ox + s * (a * x + b * y + d * z);
      out[2 * i + 1] = oy - s * (e * x + f * y + g * z);
    }
    return out;
  }

  panBy(dx, dy) {
    this.pan = [this.pan[0] + dx, this.pan[1] + dy];
  }

  // Zoom so that what is under (x, y) stays there.
  zoomAt(x, y, factor) {
    const next = Math.min(Math.max(this.zoom * factor, 0.2), 2000);
    const real = next / this.zoom;
    const [fx, fy] = [x - this.width / 2, y - this.height / 2];
    this.pan = [fx - (fx - this.pan[0]) * real, fy - (fy - this.pan[1]) * real];
    this.zoom = next;
  }

  rotateBy(dx, dy) {
    const turn = (row, other, angle) => [
      row.map((v, k) => v * Math.cos(angle) + other[k] * Math.sin(angle)),
      row.map((v, k) => other[k] * Math.cos(angle) - v * Math.sin(angle)),
    ];
    let [right, up, near] = this.axes;
    [near, right] = turn(near, right, -dx / 150);
    [near, up] = turn(near, up, dy / 150);
    this.axes = [right, up, near];
  }

  // Bring point i to the middle, at least so near that single points can be told apart.
  lookAt(i, zoom = 4) {
    this.zoom = Math.max(this.zoom, zoom);
    const [x, y] = this.project(i);
    this.panBy(this.width / 2 - x, this.height / 2 - y);
  }
}

// The point nearest to (x, y) on the screen, or -1 if none is within `reach` pixels.
export function nearestPoint(screen, x, y, reach) {
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < screen.length / 2; i++) {
    const [dx, dy] = [screen[2 * i] - x, screen[2 * i + 1] - y];
    const square = dx * dx + dy * dy;
    if (square <= least) [best, least] = [i, square];
  }
  return best;
}

// All points inside a polygon, by the parity of crossings of a ray.
export function pointsInside(screen, polygon) {
  const inside = [];
  const [xs, ys] = [0, 1].map((k) => polygon.map((corner) => corner[k]));
  const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  for (let i = 0; i < screen.length / 2; i++) {
    const [x, y] = [screen[2 * i], screen[2 * i + 1]];
    if (x < box[0] || x > box[1] || y < box[2] || y > box[3]) continue;
    let odd = false;
    for (let k = 0, j = polygon.length - 1; k < polygon.length; j = k++) {
      if (ys[k] > y !== ys[j] > y && x < ((xs[j] - xs[k]) * (y - ys[k])) / (ys[j] - ys[k]) + xs[k]) odd = !odd;
    }
    if (odd) inside.push(i);
  }
  return inside;
}
