// Draws points and edges on a flat canvas, for browsers without WebGL2. The methods are those of `webgl.js`.

// For each row of a point of some shape, the first column and the one after the last; the shapes are those of `webgl.js`.
export function spansOf(shape, side) {
  const spans = new Int32Array(2 * side);
  for (let row = 0; row < side; row++) {
    const y = (2 * row + 1) / side - 1;
    const half = side < 4 ? 1 : [Math.sqrt(1 - y * y), 0.9, 1 - Math.abs(y), 0.5 * (y + 1), Math.abs(y) <= 0.34 ? 1 : 0.34, 0.5 * (1 - y)][shape];
    const width = Math.max(1, Math.round(half * side));
    spans[2 * row] = (side - width) >> 1;
    spans[2 * row + 1] = spans[2 * row] + width;
  }
  return spans;
}

// Points in the order of their depth, sorted into a few hundred bins.
export function farFirst(camera, points) {
  const bins = 512;
  const { points: places, axes: [, , [a, b, c]], center, radius } = camera;
  const middle = a * center[0] + b * center[1] + c * center[2];
  const bin = new Uint16Array(points.length);
  const begin = new Uint32Array(bins + 1);
  for (let at = 0; at < points.length; at++) {
    const k = 3 * points[at];
    const depth = (a * places[k] + b * places[k + 1] + c * places[k + 2] - middle) / (2 * radius) + 0.5;
    bin[at] = Math.max(0, Math.min(bins - 1, Math.floor(depth * bins)));
    begin[bin[at] + 1]++;
  }
  for (let k = 0; k < bins; k++) begin[k + 1] += begin[k];
  const order = new Uint32Array(points.length);
  for (let at = 0; at < points.length; at++) order[begin[bin[at]]++] = points[at];
  return order;
}

export class RasterPainter {
  static start(canvas) {
    const pen = canvas.getContext("2d");
    return pen ? new RasterPainter(canvas, pen) : null;
  }

  constructor(canvas, pen) {
    Object.assign(this, { canvas, pen, kind: "raster", pairs: new Uint32Array(0) });
    this.layer = document.createElement("canvas");
  }

  setPlaces(places, factors) {
    this.n = places.length / 3;
    this.factors = factors;
  }

  // Colors as whole pixels: alpha, blue, green, red.
  setColors(colors, shapes) {
    this.pixels = new Uint32Array(colors.buffer.slice(0));
    this.shapes = shapes;
    const isFaint = (i) => colors[4 * i + 3] < 255;
    const all = Uint32Array.from(shapes.keys());
    this.faint = all.filter(isFaint);
    this.solid = all.filter((i) => !isFaint(i));
  }

  setEdges(pairs) {
    this.pairs = pairs;
  }

  draw(camera, size, layers) {
    const { canvas, pen } = this;
    const { width, height } = canvas;
    const ratio = width / camera.width;
    const screen = camera.projectAll();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    for (const { from, to, color } of layers) this.drawEdges(screen, from, to, color, ratio);
    if (this.image?.width !== width || this.image?.height !== height) {
      this.image = pen.createImageData(width, height);
      this.buffer = new Uint32Array(this.image.data.buffer);
      Object.assign(this.layer, { width, height });
    }
    this.buffer.fill(0);
    for (const [points, share] of [[this.faint, 0.7], [this.solid, 1]]) {
      this.drawPoints(camera.inSpace ? farFirst(camera, points) : points, screen, 0.9 * size * ratio * share, ratio);
    }
    this.layer.getContext("2d").putImageData(this.image, 0, 0);
    pen.drawImage(this.layer, 0, 0);
  }

  drawPoints(points, screen, across, ratio) {
    const { buffer, pixels, shapes, factors } = this;
    const { width, height } = this.canvas;
    const drawn = [];  // the spans of every shape, by the side of its square
    for (const i of points) {
      const side = Math.max(1, Math.round(across * factors[i]));
      const left = Math.round(screen[2 * i] * ratio - side / 2);
      const top = Math.round(screen[2 * i + 1] * ratio - side / 2);
      if (left < 0 || top < 0 || left + side > width || top + side > height) continue;
      drawn[side] ??= Array.from({ length: 6 }, (_, shape) => spansOf(shape, side));
      const own = drawn[side][shapes[i]];
      for (let y = 0; y < side; y++) {
        const from = (top + y) * width + left;
        buffer.fill(pixels[i], from + own[2 * y], from + own[2 * y + 1]);
      }
    }
  }

  drawEdges(screen, from, to, [red, green, blue, alpha], ratio) {
    const { pen, pairs } = this;
    pen.strokeStyle = `rgba(${255 * red}, ${255 * green}, ${255 * blue}, ${alpha})`;
    pen.lineWidth = ratio;
    pen.beginPath();
    for (let e = from; e < to; e++) {
      const [p, q] = [pairs[2 * e], pairs[2 * e + 1]];
      pen.moveTo(screen[2 * p] * ratio, screen[2 * p + 1] * ratio);
      pen.lineTo(screen[2 * q] * ratio, screen[2 * q + 1] * ratio);
    }
    pen.stroke();
  }
}
