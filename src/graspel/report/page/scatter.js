// A drawing of points that can be moved: drag, wheel, two fingers, keys, and buttons do the same.
import { Camera, nearestPoint, pointsInside } from "./camera.js";
import { pointSize, sizesByDensity } from "./density.js";
import { button, make } from "./dom.js";
import { middlePoints, placeBoxes } from "./labels.js";
import { RasterPainter } from "./raster.js";
import { styleColor } from "./theme.js";
import { WebGLPainter } from "./webgl.js";
import { wrapped } from "./words.js";

const REACH = 14;  // pixels around the pointer in which a point is found
const STEP = 60;  // pixels that an arrow key moves the drawing
const MOVING_EDGES = 15000;  // edges drawn of each kind while the drawing moves; all of them once it rests
const REST = 200;  // milliseconds after the last move

export class Scatter {
  // `act`: onPick(i), onChoose(points), describe(i) for the tooltip.
  constructor(host, label, act = {}) {
    Object.assign(this, { host, act, layers: [], labels: [], marked: [], path: [], lasso: null, selecting: false });
    this.canvas = make("canvas", { className: "ink" });
    this.painter = WebGLPainter.start(this.canvas);
    if (!this.painter) {  // a canvas keeps the first kind of drawing that was asked of it, so that another one is needed
      this.canvas = make("canvas", { className: "ink" });
      this.painter = RasterPainter.start(this.canvas);
    }
    this.top = make("canvas", { className: "over", tabIndex: 0, role: "application", "aria-label": label });
    this.pen = this.top.getContext("2d");
    this.tip = make("div", { className: "tip", hidden: true });
    this.controls = make("div", { className: "zoom", role: "group", "aria-label": "zoom" },
      button("+", () => this.zoom(1.5), { "aria-label": "zoom in", title: "zoom in" }),
      button("−", () => this.zoom(1 / 1.5), { "aria-label": "zoom out", title: "zoom out" }),
      button("⤢", () => this.reset(), { "aria-label": "show everything", title: "show everything" }));
    host.replaceChildren(this.canvas, this.top, this.tip, this.controls);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(host);
  }

  // Show points (x, y, z for each); `view` holds the axes of a drawing in space, and is null in the plane.
  show(points, view = null) {
    this.points = points;
    this.camera = new Camera(points, view);
    this.factors = sizesByDensity(this.camera);
    this.painter.setPlaces(points, this.factors);
    this.placeLabels();
    this.resize();
  }

  setColors(colors, shapes) {
    this.painter.setColors(colors, shapes);
    this.hasColors = true;
    this.render();
  }

  setEdges(pairs) {
    this.painter.setEdges(pairs);
  }

  setLayers(layers) {
    this.layers = layers;
    this.render();
  }

  // Names of groups, by group; `classes` is the group of every point.
  setLabels(names, classes, sizes) {
    this.names = { names, classes, sizes };
    this.placeLabels();
    this.render();
  }

  placeLabels() {
    if (!this.names || !this.points) return;
    const { names, classes, sizes } = this.names;
    const middles = middlePoints(this.points, classes, names.length);
    this.labels = names.map((text, k) => ({ text, lines: wrapped(text, 22, 2), point: middles[k], weight: sizes[k] }))
      .filter((one) => one.point >= 0);
  }

  mark(points, path = []) {
    Object.assign(this, { marked: points, path });
    this.render();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height || !this.camera) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.canvas, this.top]) {
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    }
    this.camera.resize(width, height);
    this.drawNow();
  }

  render() {
    if (this.waiting || !this.camera) return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.waiting = false;
    if (!this.camera?.unit || !this.hasColors) return;
    this.screen = null;
    this.pointSize = pointSize(this.camera);
    this.painter.draw(this.camera, this.pointSize, this.layers.map((layer) => this.thin(layer)));
    this.drawOver();
    this.frames = (this.frames ?? 0) + 1;
  }

  thin(layer) {
    return this.moving ? { ...layer, to: Math.min(layer.to, layer.from + MOVING_EDGES) } : layer;
  }

  // Draw during a move, and once more, in full, when it is over.
  renderMove() {
    if (this.layers.some(({ from, to }) => to - from > MOVING_EDGES)) {
      clearTimeout(this.moving);
      this.moving = setTimeout(() => {
        this.moving = 0;
        this.render();
      }, REST);
    }
    this.render();
  }

  drawOver() {
    const { pen, top, camera } = this;
    const ratio = top.width / camera.width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    const [ink, ground, accent] = ["--ink", "--ground", "--accent"].map(styleColor);
    if (this.path.length > 1) this.drawLine(this.path.map((i) => camera.project(i)), accent, 3);
    this.drawMarks(ink, ground);
    this.drawLabels(ink, ground);
    if (this.lasso) this.drawLine([...this.lasso, this.lasso[0]], accent, 2);
    if (document.activeElement === top) this.drawCross(accent);
  }

  drawLine(corners, color, width) {
    const { pen } = this;
    Object.assign(pen, { strokeStyle: color, lineWidth: width, lineJoin: "round" });
    pen.beginPath();
    corners.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }

  drawCross(color) {
    const [x, y] = [this.camera.width / 2, this.camera.height / 2];
    this.drawLine([[x - 9, y], [x + 9, y]], color, 1.5);
    this.drawLine([[x, y - 9], [x, y + 9]], color, 1.5);
  }

  drawMarks(ink, ground) {
    const { pen, camera, marked } = this;
    for (const [k, i] of marked.entries()) {
      const [x, y] = camera.project(i);
      for (const [color, width] of [[ground, k ? 3 : 5], [ink, k ? 1.5 : 2.5]]) {
        Object.assign(pen, { strokeStyle: color, lineWidth: width });
        pen.beginPath();
        pen.arc(x, y, (this.pointSize * this.factors[i]) / 2 + (k ? 3 : 6), 0, 2 * Math.PI);
        pen.stroke();
      }
      if (k > 2000) break;
    }
  }

  drawLabels(ink, ground) {
    const { pen, camera } = this;
    Object.assign(pen, { font: "600 15px system-ui, sans-serif", textBaseline: "top", lineJoin: "round", lineWidth: 4 });
    const seen = this.labels.map((one) => ({ ...one, at: camera.project(one.point) }))
      .filter(({ at: [x, y] }) => x >= 0 && y >= 0 && x <= camera.width && y <= camera.height);
    const boxes = seen.map(({ lines, at: [x, y], weight }) => {
      const width = Math.max(...lines.map((line) => pen.measureText(line).width));
      return { x: x - width / 2, y: y - 9 * lines.length, width, height: 18 * lines.length, weight };
    });
    placeBoxes(boxes, camera.width, camera.height).forEach((box, k) => {
      if (!box) return;
      Object.assign(pen, { strokeStyle: ground, fillStyle: ink, textAlign: "center" });
      for (const act of ["strokeText", "fillText"]) seen[k].lines.forEach((line, row) => pen[act](line, box.x + box.width / 2, box.y + 18 * row));
    });
  }

  // --- moving ----------------------------------------------------------------------------------------------------

  zoom(factor, x = this.camera.width / 2, y = this.camera.height / 2) {
    this.camera.zoomAt(x, y, factor);
    this.renderMove();
  }

  reset() {
    this.camera.reset();
    this.render();
  }

  lookAt(i) {
    this.camera.lookAt(i);
    this.render();
  }

  move(dx, dy, pans) {
    if (this.camera.inSpace && !pans) this.camera.rotateBy(dx, dy);
    else this.camera.panBy(dx, dy);
    this.renderMove();
  }

  find(x, y, reach = REACH) {
    this.screen ??= this.camera.projectAll();
    return nearestPoint(this.screen, x, y, reach);
  }

  listen() {
    const { top } = this;
    const fingers = new Map();
    let travelled = 0;
    const at = (event) => [event.offsetX, event.offsetY];
    top.addEventListener("pointerdown", (event) => {
      top.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, at(event));
      travelled = 0;
      if (this.selecting && fingers.size === 1) this.lasso = [at(event)];
    });
    top.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return this.hover(event);
      const [before, now] = [fingers.get(event.pointerId), at(event)];
      travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (fingers.size === 2) this.pinch(fingers, event.pointerId, before, now);
      else if (this.lasso) {
        this.lasso.push(now);
        this.render();
      } else this.move(now[0] - before[0], now[1] - before[1], event.shiftKey || event.buttons === 2);
      fingers.set(event.pointerId, now);
      return undefined;
    });
    const end = (event) => {
      if (!fingers.delete(event.pointerId)) return;
      if (this.lasso) this.closeLasso();
      else if (travelled < 5 && !fingers.size && event.type === "pointerup") this.pick(this.find(...at(event)));
    };
    top.addEventListener("pointerup", end);
    top.addEventListener("pointercancel", end);
    top.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    top.addEventListener("contextmenu", (event) => event.preventDefault());
    top.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
    }, { passive: false });
    top.addEventListener("keydown", (event) => this.press(event));
    for (const type of ["focus", "blur"]) top.addEventListener(type, () => this.render());
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.painter.prepare();
      this.painter.setPlaces(this.points, this.factors);
      this.act.onRestore?.();
    });
  }

  pinch(fingers, id, before, now) {
    const other = [...fingers].find(([key]) => key !== id)[1];
    const spread = (finger) => Math.hypot(finger[0] - other[0], finger[1] - other[1]) || 1;
    this.camera.zoomAt((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, spread(now) / spread(before));
    this.move((now[0] - before[0]) / 2, (now[1] - before[1]) / 2, true);
  }

  press(event) {
    const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    if (moves[event.key]) this.move(...moves[event.key], event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.reset();
    else if (event.key === "Enter" || event.key === " ") this.pick(this.find(this.camera.width / 2, this.camera.height / 2, 80));
    else return;
    event.preventDefault();
  }

  hover(event) {
    const i = this.act.describe ? this.find(event.offsetX, event.offsetY) : -1;
    this.tip.hidden = i < 0;
    if (i < 0) return;
    this.tip.textContent = this.act.describe(i);
    const [x, y] = this.camera.project(i);
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    this.tip.style.left = `${Math.max(0, Math.min(x + 12, this.camera.width - width - 4))}px`;
    this.tip.style.top = `${Math.max(0, y + 14 + height > this.camera.height ? y - height - 10 : y + 14)}px`;
  }

  pick(i) {
    if (i >= 0) this.act.onPick?.(i);
  }

  closeLasso() {
    this.screen ??= this.camera.projectAll();
    const points = this.lasso.length > 2 ? pointsInside(this.screen, this.lasso) : [];
    this.lasso = null;
    this.render();
    this.act.onChoose?.(points);
  }
}
