"use strict";
// Reads the data block, and draws a preview: the points on a flat canvas, where the 3D drawing will first show them.
// plotly, which is loaded after this script, takes seconds to start without a graphics card.
const graspel = (function () {
  const data = JSON.parse(document.getElementById("data").textContent);

  function bytes(packed) {
    const raw = atob(packed);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }
  const floats = (packed) => new Float32Array(bytes(packed));
  const ints = (packed) => new Int32Array(bytes(packed));

  const places = floats(data.points.places);
  const ids = ints(data.points.ids);
  const n = ids.length;
  const axis = [places.subarray(0, n), places.subarray(n, 2 * n), places.subarray(2 * n, 3 * n)];
  const edges = { heads: ints(data.edges.heads), tails: ints(data.edges.tails), rounds: ints(data.edges.rounds) };
  const colorings = data.colorings.map((coloring) => ({ ...coloring, classes: ints(coloring.classes) }));
  const firstColoring = colorings.length ? colorings[colorings.length - 1] : null;
  const eye = data.eye.map((coordinate) => 1.8 * coordinate);

  // The same projection as plotly's: a cube of side 1 around the points, viewed from `eye` at an angle of 45 degrees.
  function project(width, height) {
    const unit = (v) => { const length = Math.hypot(...v) || 1; return v.map((c) => c / length); };
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const back = unit(eye);
    const sideways = cross([0, 0, 1], back);
    const right = Math.hypot(...sideways) > 1e-6 ? unit(sideways) : [1, 0, 0];  // when looking straight down, any direction will do
    const up = cross(back, right);
    const scale = height / 2 / Math.tan(Math.PI / 8);
    const ranges = axis.map((values) => {
      const low = values.reduce((a, b) => Math.min(a, b), Infinity);
      const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
      return { middle: (low + high) / 2, side: ((high - low) || 1) * (1 + 2 / 32) };  // the same margin as plotly's
    });
    return Array.from(ids, (_, i) => {
      const place = ranges.map(({ middle, side }, k) => (axis[k][i] - middle) / side);
      const depth = dot(eye, back) - dot(place, back);
      return [width / 2 + (scale * dot(place, right)) / depth, height / 2 - (scale * dot(place, up)) / depth, depth];
    });
  }

  function drawPreview() {
    const canvas = document.createElement("canvas");
    const { clientWidth: width, clientHeight: height } = document.getElementById("drawing");
    const pixelRatio = window.devicePixelRatio || 1;
    Object.assign(canvas, { id: "preview", width: width * pixelRatio, height: height * pixelRatio });
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.scale(pixelRatio, pixelRatio);
    const at = project(width, height);
    pen.strokeStyle = "#c4c4c4";
    pen.lineWidth = 0.5;
    pen.beginPath();
    edges.heads.forEach((head, e) => { pen.moveTo(at[head][0], at[head][1]); pen.lineTo(at[edges.tails[e]][0], at[edges.tails[e]][1]); });
    pen.stroke();
    const side = n > 1000 ? 2.5 : 5;
    for (const i of [...at.keys()].sort((a, b) => at[b][2] - at[a][2])) {  // the nearest points are drawn last
      pen.fillStyle = data.colors[firstColoring ? firstColoring.classes[i] % data.colors.length : 0];
      pen.fillRect(at[i][0] - side / 2, at[i][1] - side / 2, side, side);
    }
    document.getElementById("drawing").append(canvas);
  }
  drawPreview();
  return { data, axis, ids, degrees: ints(data.points.degrees), edges, colorings, firstColoring, eye };
})();
