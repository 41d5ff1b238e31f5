// Thumbnails of points that are pictures: cut out of sheets, which are decoded when one of their pictures is shown.
import { make } from "./dom.js";
import { ints } from "./unpack.js";

export class Thumbnails {
  constructor(block, n) {
    this.block = block;
    this.place = null;
    if (block?.chosen) {
      this.place = new Int32Array(n).fill(-1);
      ints(block.chosen).forEach((point, k) => { this.place[point] = k; });
    }
    this.sheets = new Map();
  }

  get exist() {
    return this.block !== null && this.block !== undefined;
  }

  sheet(k) {
    if (!this.sheets.has(k)) {
      const image = new Image();
      const sheet = this.block.sheets[k];
      image.src = `data:image/${sheet.startsWith("iVBOR") ? "png" : "jpeg"};base64,${sheet}`;
      this.sheets.set(k, image.decode().then(() => image));
    }
    return this.sheets.get(k);
  }

  // A picture of the point, or null if there is none.
  make(point, size, text) {
    const place = this.exist ? (this.place ? this.place[point] : point) : -1;
    if (place < 0) return null;
    const { side, across } = this.block;
    const canvas = make("canvas", { className: "thumb", width: side, height: side, role: "img", "aria-label": text });
    canvas.style.width = canvas.style.height = `${size}px`;
    const inSheet = place % (across * across);
    this.sheet(Math.floor(place / (across * across))).then((image) => {
      const [x, y] = [(inSheet % across) * side, Math.floor(inSheet / across) * side];
      canvas.getContext("2d").drawImage(image, x, y, side, side, 0, 0, side, side);
    });
    return canvas;
  }
}
