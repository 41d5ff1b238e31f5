// Draws points and edges with WebGL2. `raster.js` has the same methods, for browsers without it.

const POINTS = `#version 300 es
in vec3 place; in vec4 color; in float shape; in float factor;
uniform mat3 axes; uniform vec3 center; uniform vec2 zoom; uniform vec2 pan; uniform float depth; uniform float size;
out vec4 ink; flat out int form; flat out float across;
void main() {
  vec3 at = axes * (place - center);
  gl_Position = vec4(at.xy * zoom + pan, -at.z * depth, 1.0);
  across = max(1.0, size * factor * (color.a < 0.9 ? 0.7 : 1.0));
  gl_PointSize = across;
  ink = color;
  form = int(shape + 0.5);
}`;
const INK = `#version 300 es
precision highp float;
in vec4 ink; flat in int form; flat in float across; out vec4 result;
void main() {
  vec2 p = 2.0 * gl_PointCoord - 1.0;
  if (across > 4.0) {
    float r = length(p);
    bool inside = form == 0 ? r <= 1.0 : form == 1 ? max(abs(p.x), abs(p.y)) <= 0.85 : form == 2 ? abs(p.x) + abs(p.y) <= 1.0
      : form == 3 ? p.y <= 0.8 && abs(p.x) <= 0.5 * (p.y + 1.0) : form == 4 ? min(abs(p.x), abs(p.y)) <= 0.32 : p.y >= -0.8 && abs(p.x) <= 0.5 * (1.0 - p.y);
    if (!inside) discard;
  }
  result = vec4(ink.rgb * ink.a, ink.a);
}`;
const LINES = `#version 300 es
in vec3 place;
uniform mat3 axes; uniform vec3 center; uniform vec2 zoom; uniform vec2 pan; uniform float depth;
void main() {
  vec3 at = axes * (place - center);
  gl_Position = vec4(at.xy * zoom + pan, -at.z * depth, 1.0);
}`;
const LINE_INK = `#version 300 es
precision mediump float;
uniform vec4 ink; out vec4 result;
void main() { result = vec4(ink.rgb * ink.a, ink.a); }`;

// Whether drawings are computed without a graphics card. MNIST then moves with 15 frames a second, and with more than 50
// on a flat canvas.
function isSoftware(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return names !== null && /swiftshader|llvmpipe|software|basic render/i.test(gl.getParameter(names.UNMASKED_RENDERER_WEBGL));
}

export class WebGLPainter {
  // Returns null where WebGL2 is missing, does not work, or has no graphics card.
  static start(canvas) {
    try {
      const gl = canvas.getContext("webgl2", { antialias: false, depth: true, alpha: true, failIfMajorPerformanceCaveat: true });
      if (gl && !isSoftware(gl)) return new WebGLPainter(canvas, gl);
      gl?.getExtension("WEBGL_lose_context")?.loseContext();
    } catch (error) {
      // The flat canvas does as well.
    }
    return null;
  }

  constructor(canvas, gl) {
    Object.assign(this, { canvas, gl, kind: "webgl", nEdges: 0 });
    this.prepare();
  }

  prepare() {
    const { gl } = this;
    this.points = this.compile(POINTS, INK);
    this.lines = this.compile(LINES, LINE_INK);
    this.buffers = Object.fromEntries(["places", "colors", "shapes", "factors", "edges"].map((name) => [name, gl.createBuffer()]));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  compile(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "place");
    gl.bindAttribLocation(program, 1, "color");
    gl.bindAttribLocation(program, 2, "shape");
    gl.bindAttribLocation(program, 3, "factor");
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const uniforms = {};
    for (const name of ["axes", "center", "zoom", "pan", "depth", "size", "ink"]) uniforms[name] = gl.getUniformLocation(program, name);
    return { program, uniforms };
  }

  upload(target, buffer, values) {
    const { gl } = this;
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, values, gl.STATIC_DRAW);
  }

  // Places of the points, and a factor of the size of each.
  setPlaces(places, factors) {
    this.n = places.length / 3;
    this.upload(this.gl.ARRAY_BUFFER, this.buffers.places, places);
    this.upload(this.gl.ARRAY_BUFFER, this.buffers.factors, factors);
  }

  setColors(colors, shapes) {
    this.upload(this.gl.ARRAY_BUFFER, this.buffers.colors, colors);
    this.upload(this.gl.ARRAY_BUFFER, this.buffers.shapes, shapes);
  }

  // Pairs of points, two numbers for each edge.
  setEdges(pairs) {
    this.upload(this.gl.ELEMENT_ARRAY_BUFFER, this.buffers.edges, pairs);
  }

  use({ program, uniforms }, camera) {
    const { gl } = this;
    gl.useProgram(program);
    const [right, up, near] = camera.axes;
    gl.uniformMatrix3fv(uniforms.axes, false, [0, 1, 2].flatMap((k) => [right[k], up[k], near[k]]));
    gl.uniform3fv(uniforms.center, camera.center);
    gl.uniform2f(uniforms.zoom, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform2f(uniforms.pan, (2 * camera.pan[0]) / camera.width, (-2 * camera.pan[1]) / camera.height);
    gl.uniform1f(uniforms.depth, camera.inSpace ? 0.2 / camera.radius : 0);
  }

  // `layers`: ranges of edges, each with a color [r, g, b, alpha] from 0 to 1.
  draw(camera, size, layers) {
    const { gl, canvas, buffers } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (camera.inSpace) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.places);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    for (const other of [1, 2, 3]) gl.disableVertexAttribArray(other);
    for (const { from, to, color } of layers) {
      if (to <= from) continue;
      this.use(this.lines, camera);
      gl.uniform4fv(this.lines.uniforms.ink, color);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.edges);
      gl.drawElements(gl.LINES, 2 * (to - from), gl.UNSIGNED_INT, 8 * from);
    }
    this.use(this.points, camera);
    gl.uniform1f(this.points.uniforms.size, size * (canvas.width / camera.width));
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.colors);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.shapes);
    gl.enableVertexAttribArray(2);
    gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.factors);
    gl.enableVertexAttribArray(3);
    gl.vertexAttribPointer(3, 1, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.POINTS, 0, this.n);
  }
}
