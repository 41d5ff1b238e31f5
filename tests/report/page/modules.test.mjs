// Tests of the page's modules that need no browser: node --test tests/report/page
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../../src/graspel/report/page/", import.meta.url);
const load = async (name) => {
  // node takes .js for modules only inside a package that says so, hence the text of each as a URL of its own.
  const text = readFileSync(new URL(`${name}.js`, folder), "utf-8");
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
};
const { Camera, mainRange, nearestPoint, pointsInside } = await load("camera");
const { sizesByDensity } = await load("density");
const { Heap, Network } = await load("network");
const { middlePoints, placeBoxes } = await load("labels");
const { formatMark, formatNumber, formatShare, plural, search, shortened, ticks, toCSV } = await load("words");
const { farFirst, spansOf } = await load("raster");
const { bytes, floats, interleave, ints } = await load("unpack");

let seed = 7;
const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
const cloud = (n, depth = 1) => Float32Array.from({ length: 3 * n }, (_, k) => (k % 3 === 2 ? depth * random() : 10 * random()));

// --- camera ------------------------------------------------------------------------------------------------------

test("all points fit on the screen, in the plane and in space", () => {
  for (const view of [null, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]]) {
    const camera = new Camera(cloud(200, view ? 10 : 0), view);
    camera.resize(300, 500);
    const screen = camera.projectAll();
    for (let i = 0; i < 200; i++) {
      assert(screen[2 * i] >= -40 && screen[2 * i] <= 340 && screen[2 * i + 1] >= -40 && screen[2 * i + 1] <= 540);
      const [x, y] = camera.project(i);
      assert(Math.abs(x - screen[2 * i]) < 1e-2 && Math.abs(y - screen[2 * i + 1]) < 1e-2, "both ways to project agree");
    }
  }
});

test("what is under the pointer stays there when zooming", () => {
  const camera = new Camera(cloud(50, 0));
  camera.resize(400, 300);
  const before = camera.project(7);
  camera.zoomAt(...before, 3.7);
  camera.project(7).forEach((v, k) => assert(Math.abs(v - before[k]) < 1e-3));
  camera.reset();
  assert.deepEqual(camera.project(7), before);
});

test("turning keeps the axes orthonormal, and distances from the center", () => {
  const camera = new Camera(cloud(20, 10), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
  camera.resize(100, 100);
  for (let k = 0; k < 50; k++) camera.rotateBy(40 * random() - 20, 40 * random() - 20);
  const dot = (a, b) => a.reduce((sum, v, k) => sum + v * b[k], 0);
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) assert(Math.abs(dot(camera.axes[i], camera.axes[j]) - (i === j)) < 1e-9);
});

test("a far point does not make all others small", () => {
  const values = Float32Array.from({ length: 3000 }, (_, k) => (k === 0 ? 1e6 : random()));
  assert(mainRange(values, 3, 0)[1] <= 1);
  assert.deepEqual(mainRange(Float32Array.from([1, 0, 0, 5, 0, 0]), 3, 0), [1, 5]);
});

test("equal points, and one point, can be shown", () => {
  for (const n of [1, 4]) {
    const camera = new Camera(new Float32Array(3 * n));
    camera.resize(200, 100);
    assert.deepEqual(camera.project(0), [100, 50]);
  }
});

test("looking at a point brings it to the middle", () => {
  const camera = new Camera(cloud(30, 0));
  camera.resize(200, 100);
  camera.lookAt(11);
  camera.project(11).forEach((v, k) => assert(Math.abs(v - [100, 50][k]) < 1e-3));
});

test("the nearest point and the points inside a lasso, against all pairs", () => {
  const screen = Float32Array.from({ length: 400 }, () => 100 * random());
  for (let k = 0; k < 20; k++) {
    const [x, y] = [100 * random(), 100 * random()];
    const far = Array.from({ length: 200 }, (_, i) => Math.hypot(screen[2 * i] - x, screen[2 * i + 1] - y));
    assert.equal(nearestPoint(screen, x, y, 1000), far.indexOf(Math.min(...far)));
  }
  assert.equal(nearestPoint(screen, -500, 0, 10), -1);
  const square = [[20, 30], [70, 30], [70, 90], [20, 90]];
  const expected = Array.from({ length: 200 }, (_, i) => i).filter((i) => screen[2 * i] > 20 && screen[2 * i] < 70 && screen[2 * i + 1] > 30 && screen[2 * i + 1] < 90);
  assert.deepEqual(pointsInside(screen, square), expected);
  assert.deepEqual(pointsInside(screen, [...square].reverse()), expected, "the direction does not matter");
});

// --- the graph ---------------------------------------------------------------------------------------------------

test("shortest paths, against Floyd and Warshall", () => {
  const n = 30;
  const pairs = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) if (random() < 0.1) pairs.push([i, j]);
  const weights = Float32Array.from(pairs, () => 0.1 + random());
  const network = new Network(n, { heads: Int32Array.from(pairs, (p) => p[0]), tails: Int32Array.from(pairs, (p) => p[1]), weights });
  const d = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => (i === j ? 0 : Infinity)));
  pairs.forEach(([i, j], e) => { d[i][j] = d[j][i] = 1 / Math.sqrt(weights[e]); });
  for (let k = 0; k < n; k++) for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) d[i][j] = Math.min(d[i][j], d[i][k] + d[k][j]);
  for (let i = 0; i < n; i += 3) {
    for (let j = 0; j < n; j++) {
      const path = network.shortestPath(i, j);
      if (d[i][j] === Infinity) assert.equal(path, null);
      else {
        assert.deepEqual([path[0], path.at(-1)], [i, j]);
        let length = 0;
        for (let k = 1; k < path.length; k++) length += d[path[k - 1]][path[k]];
        assert(Math.abs(length - d[i][j]) < 1e-6);
      }
    }
  }
});

test("neighbors come with their edges, the strongest first", () => {
  const network = new Network(4, { heads: Int32Array.of(0, 0, 2), tails: Int32Array.of(1, 2, 3), weights: Float32Array.of(1, 5, 2) });
  assert.deepEqual(network.neighbors(0), [{ point: 2, edge: 1 }, { point: 1, edge: 0 }]);
  assert.deepEqual(network.neighbors(3), [{ point: 2, edge: 2 }]);
});

test("the heap sorts", () => {
  const heap = new Heap();
  const keys = Array.from({ length: 200 }, random);
  keys.forEach((key, i) => heap.push(key, i));
  const out = [];
  while (heap.size) out.push(heap.pop()[0]);
  assert.deepEqual(out, [...keys].sort((a, b) => a - b));
});

// --- labels ------------------------------------------------------------------------------------------------------

test("a label stands at a member in the middle of its group", () => {
  const points = cloud(100, 0);
  const classes = Uint8Array.from({ length: 100 }, (_, i) => i % 3);
  const middles = middlePoints(points, classes, 4);
  middles.slice(0, 3).forEach((i, k) => assert.equal(classes[i], k));
  assert.equal(middles[3], -1, "an empty group has no label");
});

test("labels do not cover each other, and stay on the drawing", () => {
  const boxes = Array.from({ length: 40 }, () => ({ x: 200 * random() - 20, y: 150 * random() - 20, width: 50, height: 18, weight: random() }));
  const placed = placeBoxes(boxes, 200, 150).filter(Boolean);
  assert(placed.length > 5);
  placed.forEach((a, i) => {
    assert(a.x >= 0 && a.y >= 0 && a.x + a.width <= 200 && a.y + a.height <= 150);
    placed.slice(i + 1).forEach((b) => assert(a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height));
  });
  const heaviest = boxes.reduce((best, box, k) => (box.weight > boxes[best].weight ? k : best), 0);
  assert(placeBoxes(boxes, 2000, 1500)[heaviest] !== null || boxes[heaviest].x < 0 || boxes[heaviest].y < 0);
});

// --- words -------------------------------------------------------------------------------------------------------

test("the search finds numbers, names, classes and texts, the best match first", () => {
  const known = [["ant", "insect"], ["anteater", "mammal"], ["eel", "fish eats an ant"]];
  const describe = (i) => ({ id: 10 + i, name: known[i][0], more: known[i][1] });
  assert.deepEqual(search("ant", 3, describe), [0, 1, 2]);
  assert.deepEqual(search("MAMMAL ant", 3, describe), [1]);
  assert.deepEqual(search("12", 3, describe), [2]);
  assert.deepEqual(search("  ", 3, describe), []);
  assert.deepEqual(search("ant", 3, describe, 2), [0, 1]);
});

test("CSV survives commas, quotes and line breaks, and holds no formula", () => {
  assert.equal(toCSV(["a", "b"], [["x,y", 'say "no"'], ["line\nbreak", 1.5]]), 'a,b\r\n"x,y","say ""no"""\r\n"line\nbreak",1.5\r\n');
  assert.equal(toCSV(["a"], [["=1+1"], ["@x"], ["-1"], ["-x"], [-2], ["+3e5"]]), "a\r\n'=1+1\r\n'@x\r\n-1\r\n'-x\r\n-2\r\n+3e5\r\n");
});

test("numbers as text", () => {
  assert.equal(formatNumber(0.123456), "0.123");
  assert.equal(formatNumber(1234567), "1.23e+6");
  assert.equal(formatNumber(NaN), "unknown");
  assert.equal(formatShare(0.001), "<1 %");
  assert.equal(formatShare(0.5), "50 %");
  assert.equal(plural(1, "point"), "1 point");
  assert.equal(plural(2000, "point"), "2,000 points");
  assert.equal(shortened("🎉🎉🎉🎉", 3), "🎉🎉…");
  assert.equal(formatMark(1e7), "1e7");
  assert.equal(formatMark(1.51), "1.51");
});

test("marks of an axis are round, inside, and about as many as wanted", () => {
  for (let k = 0; k < 100; k++) {
    const low = 100 * random() - 50;
    const high = low + 10 ** (6 * random() - 3);
    const marks = ticks(low, high);
    assert(marks.length >= 1 && marks.length <= 6, `${low} ${high} ${marks}`);
    marks.forEach((mark) => assert(mark >= low - 1e-9 && mark <= high + 1e-9));
  }
  assert.deepEqual(ticks(0, 10), [0, 2, 4, 6, 8, 10]);
});

// --- data --------------------------------------------------------------------------------------------------------

test("packed numbers come back", () => {
  const packed = (array) => Buffer.from(array.buffer).toString("base64");
  assert.deepEqual(floats(packed(Float32Array.of(1.5, -2))), Float32Array.of(1.5, -2));
  assert.deepEqual(ints(packed(Int32Array.of(7, -9))), Int32Array.of(7, -9));
  assert.deepEqual(bytes(packed(Uint8Array.of(0, 255))), Uint8Array.of(0, 255));
  assert.deepEqual(interleave(Float32Array.of(1, 2, 10, 20), 2), Float32Array.of(1, 10, 0, 2, 20, 0));
});

test("shapes on a flat canvas stay inside their square and differ", () => {
  for (const side of [1, 2, 5, 9]) {
    const all = [0, 1, 2, 3, 4, 5].map((shape) => spansOf(shape, side));
    all.forEach((spans) => spans.forEach((v, k) => assert(v >= 0 && v <= side && (k % 2 === 0 || v > spans[k - 1]))));
    if (side === 9) assert.equal(new Set(all.map(String)).size, 6);
  }
});

test("points in space are drawn from far to near", () => {
  const camera = new Camera(cloud(300, 10), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
  const order = farFirst(camera, Uint32Array.from({ length: 300 }, (_, i) => i));
  assert.deepEqual([...order].sort((a, b) => a - b), Array.from({ length: 300 }, (_, i) => i));
  for (let k = 1; k < 300; k++) assert(camera.points[3 * order[k] + 2] >= camera.points[3 * order[k - 1] + 2] - 0.1);
});

// --- sizes -----------------------------------------------------------------------------------------------------------

test("points are small in a crowd and large where they stand alone, in the plane and in space", () => {
  for (const view of [null, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]]) {
    const alone = cloud(100, 10);
    const crowd = Float32Array.from({ length: 6000 }, (_, k) => (!view && k % 3 === 2 ? 0 : 4 + 2 * random()));
    const sizes = sizesByDensity(new Camera(Float32Array.of(...alone, ...crowd), view));
    const median = (some) => [...some].sort((a, b) => a - b)[some.length >> 1];
    assert(median(sizes.slice(0, 100)) > 1.2);
    assert(Math.abs(median(sizes.slice(100)) - 1) < 0.05);
    sizes.forEach((own) => assert(own >= 0.6 - 1e-6 && own <= 1.25 + 1e-6));
  }
});

test("the density of a point is the number of points in the nine cells around it", () => {
  const points = Float32Array.from({ length: 1500 }, (_, k) => (k % 3 === 2 ? 0 : random() ** 2));
  const camera = new Camera(points);
  const cell = (i, a) => Math.min(63, Math.floor(64 * ((points[3 * i + a] - camera.center[a]) / camera.size[a] + 0.5)));
  const near = (i, j) => Math.abs(cell(i, 0) - cell(j, 0)) <= 1 && Math.abs(cell(i, 1) - cell(j, 1)) <= 1;
  const everyone = Array.from({ length: 500 }, (_, i) => i);
  const density = everyone.map((i) => everyone.filter((j) => near(i, j)).length);
  const median = [...density].sort((a, b) => a - b)[250];
  const wanted = density.map((own) => Math.max(0.6, Math.min(1.25, (median / own) ** 0.25)));
  sizesByDensity(camera).forEach((own, i) => assert(Math.abs(own - wanted[i]) < 1e-5));
});

test("few points, and points on a line, have one size", () => {
  assert.deepEqual([...sizesByDensity(new Camera(cloud(9)))], Array(9).fill(1));
  const line = Float32Array.from({ length: 600 }, (_, k) => (k % 3 === 0 ? k : 0));
  assert(sizesByDensity(new Camera(line)).every((own) => own === 1));
});
