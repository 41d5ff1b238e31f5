// Draws points and edges on a flat canvas, for browsers without WebGL2. The methods are those of `webgl.js`.

export class RasterPainter {
  static start(canvas) {
    const pen = canvas.getContext("2d");
    return pen ? new RasterPainter(canvas, pen) : null;
  }

  constructor(canvas, pen) {
    Object.assign(this, { canvas, pen, kind: "raster", pairs: new Uint32Array(0) });
    this.layer = document.createElement("canvas");
  }

  setPlaces(places) {
    this.n = places.length / 3;
  }

  // Colors as whole pixels: alpha, blue, green, red.
  setColors(colors) {
    this.pixels = new Uint32Array(colors.buffer.slice(0));
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
    const side = Math.max(1, Math.round(size * ratio * 0.9));
    for (let i = 0; i < this.n; i++) {
      const left = Math.round(screen[2 * i] * ratio - side / 2);
      const top = Math.round(screen[2 * i + 1] * ratio - side / 2);
      if (left < 0 || top < 0 || left + side > width || top + side > height) continue;
      const ink = this.pixels[i];
      for (let y = top; y < top + side; y++) this.buffer.fill(ink, y * width + left, y * width + left + side);
    }
    this.layer.getContext("2d").putImageData(this.image, 0, 0);
    pen.drawImage(this.layer, 0, 0);
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
