"use strict";
// Draws what sketch.js has read. Text of the user enters the page by textContent, or into plotly with its signs escaped.
(function () {
  const { data, axis, ids, degrees, edges, ways } = graspel;
  const n = ids.length;
  const element = (id) => document.getElementById(id);
  const FONT = { family: "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif", size: 13, color: "#222" };
  const SYMBOLS = ["circle", "diamond", "square", "cross", "x", "circle-open"];
  const CONFIG = { displaylogo: false, responsive: true, displayModeBar: false };
  const [BLUE, ORANGE, , VERMILLION] = data.colors;

  // --- texts and numbers ---------------------------------------------------------------------------------------------

  // plotly reads a little HTML in its texts: this leaves it none.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const brief = (text) => (Array.from(text).length > 28 ? `${Array.from(text).slice(0, 27).join("")}…` : text);
  const counted = (number) => number.toLocaleString("en");
  const shown = (number) => Number(number.toPrecision(3)).toString();

  // --- the drawing ---------------------------------------------------------------------------------------------------

  function canDrawInSpace() {
    try {
      const canvas = document.createElement("canvas");
      return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
    } catch (error) {
      return false;
    }
  }
  const inSpace = canDrawInSpace();
  const letters = inSpace ? ["x", "y", "z"] : ["x", "y"];

  function lines(wanted) {
    const chosen = [];
    for (let e = 0; e < edges.rounds.length; e++) if (wanted(edges.rounds[e])) chosen.push(e);
    return letters.map((_, k) => {
      const line = new Array(3 * chosen.length);
      chosen.forEach((e, i) => {
        line[3 * i] = axis[k][edges.heads[e]];
        line[3 * i + 1] = axis[k][edges.tails[e]];
        line[3 * i + 2] = null;
      });
      return line;
    });
  }

  function trace(coordinates, more) {
    const made = { type: inSpace ? "scatter3d" : "scatter", ...more };
    letters.forEach((letter, k) => { made[letter] = coordinates[k]; });
    return made;
  }

  function edgeTraces(state) {
    return [
      trace(lines((round) => round === 0), {
        mode: "lines", name: "edges, start", hoverinfo: "skip", showlegend: true,
        line: { color: "#8a8a8a", width: inSpace ? 2 : 0.7 },
      }),
      trace(lines((round) => round > 0 && round <= state), {
        mode: "lines", name: "edges, rounds", hoverinfo: "skip", showlegend: true,
        line: { color: VERMILLION, width: inSpace ? 4 : 2 },
      }),
    ];
  }

  function pointTraces(way) {
    const groups = new Map();
    for (let i = 0; i < n; i++) {
      const k = way ? way.classes[i] : 0;
      if (!groups.has(k)) groups.set(k, []);
      groups.get(k).push(i);
    }
    const size = n > 5000 ? 2.2 : n > 1000 ? 3.2 : 5;
    return [...groups.keys()].sort((a, b) => a - b).map((k) => {
      const group = groups.get(k);
      const name = way ? plain(brief(way.names[k])) : "points";
      return trace(letters.map((_, a) => Float32Array.from(group, (i) => axis[a][i])), {
        mode: "markers", name, hoverinfo: "text", legendgroup: String(k),
        text: group.map((i) =>
          `point ${ids[i]}` + ways.map((other) => `<br>${other.what} ${plain(other.names[other.classes[i]])}`).join("") +
          `<br>${degrees[i]} edges`),
        marker: {
          size: inSpace ? size : size + 1.5, opacity: 1, line: { width: 0 },
          color: data.colors[k % data.colors.length],
          symbol: SYMBOLS[Math.floor(k / data.colors.length) % SYMBOLS.length],
        },
      });
    });
  }

  const bare = { showticklabels: false, zeroline: false, showspikes: false, gridcolor: "#e6e6e6", backgroundcolor: "#fff" };
  function drawingLayout() {
    const common = {
      font: FONT, margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "#fff", hovermode: "closest",
      legend: { itemsizing: "constant", x: 1, xanchor: "right", y: 0.93, bgcolor: "rgba(255,255,255,0.8)", tracegroupgap: 0 },
      uirevision: "keep",
    };
    if (!inSpace) {
      return { ...common, xaxis: { ...bare, title: { text: "u2" } }, yaxis: { ...bare, title: { text: "u3" } } };
    }
    const eye = { x: graspel.eye[0], y: graspel.eye[1], z: graspel.eye[2] };
    const named = (text) => ({ ...bare, title: { text } });
    return { ...common, scene: { xaxis: named("u2"), yaxis: named("u3"), zaxis: named("u4"), camera: { eye }, aspectmode: "cube" } };
  }

  let state = data.states.length - 1;
  let way = graspel.way;

  function drawAll() {
    return Plotly.react("drawing", [...edgeTraces(state), ...pointTraces(way)], drawingLayout(), { ...CONFIG, displayModeBar: true, plotGlPixelRatio: window.devicePixelRatio || 1 });
  }

  // --- the slider ----------------------------------------------------------------------------------------------------

  function tellState() {
    const here = data.states[state];
    const rounds = `${state} ${state === 1 ? "round" : "rounds"}`;
    const eta = here.eta === null ? "" : `, largest distortion ${shown(here.eta)}`;
    element("state").textContent = `after ${rounds}: ${counted(here.edges)} edges, density ${here.density.toFixed(3)}${eta}`;
  }

  function moveTo(next) {
    state = next;
    tellState();
    const found = lines((round) => round > 0 && round <= state);
    const change = {};
    letters.forEach((letter, k) => { change[letter] = [found[k]]; });
    Plotly.restyle("drawing", change, [1]);
    const here = data.states[state];
    if (element("tradeoff").data) Plotly.restyle("tradeoff", { x: [[here.density]], y: [[here.eta]] }, [1]);
  }

  // --- charts --------------------------------------------------------------------------------------------------------

  const flat = (x, y, more) => ({
    font: FONT, margin: { l: 64, r: 20, t: 10, b: 48 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff", showlegend: false,
    xaxis: { title: { text: x }, gridcolor: "#eee", zeroline: false }, yaxis: { title: { text: y }, gridcolor: "#eee", zeroline: false },
    ...more,
  });
  const logarithmic = (layout, key) => {
    Object.assign(layout[key], { type: "log", exponentformat: "power", dtick: undefined, nticks: 8 });
    return layout;
  };

  function drawTradeoff() {
    const known = data.states.filter((one) => one.eta !== null);
    const here = data.states[state];
    const layout = logarithmic(flat("density, edges for each point", "largest distortion η"), "yaxis");
    layout.xaxis.nticks = 6;
    return Plotly.newPlot("tradeoff", [
      { x: known.map((s) => s.density), y: known.map((s) => s.eta), mode: "lines+markers", line: { color: BLUE, width: 2 },
        text: known.map((s, i) => `after ${i} rounds`), hovertemplate: "%{text}<br>density %{x:.4f}<br>η %{y:.3g}<extra></extra>" },
      { x: [here.density], y: [here.eta], mode: "markers", hoverinfo: "skip",
        marker: { color: VERMILLION, size: 15, symbol: "circle-open", line: { width: 3 } } },
    ], layout, CONFIG);
  }

  function drawConvergence() {
    const rounds = data.rounds.map((one) => one.round);
    const layout = logarithmic(flat("round", "largest distortion η", {
      margin: { l: 64, r: 64, t: 30, b: 48 }, showlegend: true, legend: { orientation: "h", y: 1.14, x: 0 },
      yaxis2: { title: { text: "objective F", standoff: 10 }, overlaying: "y", side: "right", showgrid: false, zeroline: false, color: VERMILLION, tickmode: "auto", nticks: 6, automargin: true },
    }), "yaxis");
    layout.yaxis.color = BLUE;
    layout.xaxis.tickformat = "d";
    if (rounds.length < 12) layout.xaxis.dtick = 1;
    return Plotly.newPlot("convergence", [
      { x: rounds, y: data.rounds.map((one) => one.eta), mode: "lines+markers", name: "largest η", line: { color: BLUE, width: 2 },
        text: data.rounds.map((one) => `${one.added} edges added`), hovertemplate: "round %{x}: η %{y:.3g}<br>%{text}<extra></extra>" },
      { x: rounds, y: data.rounds.map((one) => one.F), mode: "lines+markers", name: "objective F", yaxis: "y2",
        line: { color: VERMILLION, width: 2, dash: "dash" }, marker: { symbol: "square" }, hovertemplate: "round %{x}: F %{y:.5g}<extra></extra>" },
    ], layout, CONFIG);
  }

  function drawSpectrum() {
    const { values, gap } = data.spectrum;
    const number = values.map((_, i) => i + 1);
    const layout = flat("number of the eigenvalue", "eigenvalue λ", { bargap: 0.75 });
    layout.yaxis.rangemode = "tozero";
    layout.yaxis.exponentformat = "power";
    if (gap !== null) {
      layout.shapes = [{ type: "rect", yref: "paper", x0: gap, x1: gap + 1, y0: 0, y1: 1, fillcolor: ORANGE, opacity: 0.3, line: { width: 0 } }];
      layout.annotations = [{ x: gap, y: 1, yref: "paper", xanchor: "right", yanchor: "top", showarrow: false, xshift: -4, text: `largest gap, after ${gap}` }];
    }
    return Plotly.newPlot("spectrum", [
      { type: "bar", x: number, y: values, marker: { color: BLUE, opacity: 0.45 }, hoverinfo: "skip" },
      { x: number, y: values, mode: "markers", marker: { color: BLUE, size: 8 }, hovertemplate: "λ<sub>%{x}</sub> = %{y:.4g}<extra></extra>" },
    ], layout, CONFIG);
  }

  function drawSizes() {
    if (!way) {
      element("sizes-section").remove();
      return null;
    }
    const order = way.sizes.map((_, k) => k).sort((a, b) => way.sizes[b] - way.sizes[a]);
    element("sizes-note").textContent = `Points in each ${way.what}: ${way.names.length} in all, the largest first.`;
    element("sizes").style.height = `${Math.max(320, 60 + 20 * order.length)}px`;
    const layout = flat("points", "", { margin: { l: 20, r: 20, t: 10, b: 48 } });
    Object.assign(layout.yaxis, { automargin: true, autorange: "reversed", tickmode: "array", tickvals: order.map((_, i) => i),
      ticktext: order.map((k) => plain(brief(way.names[k]))) });
    return Plotly.react("sizes", [{
      type: "bar", orientation: "h", x: order.map((k) => way.sizes[k]), y: order.map((_, i) => i),
      marker: { color: order.map((k) => data.colors[k % data.colors.length]) },
      text: order.map((k) => counted(way.sizes[k])), textposition: "auto", hoverinfo: "none",
    }], layout, CONFIG);
  }

  // --- the table -----------------------------------------------------------------------------------------------------

  function fillTable() {
    const head = element("edges").tHead.insertRow();
    for (const name of data.table.columns) {
      const cell = document.createElement("th");
      cell.textContent = name;
      head.append(cell);
    }
    const body = element("edges").tBodies[0];
    for (const values of data.table.rows) {
      const row = body.insertRow();
      for (const value of values) row.insertCell().textContent = value;
    }
    filterTable();
  }

  function filterTable() {
    const words = element("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    [...element("edges").tBodies[0].rows].forEach((row, i) => {
      const line = data.table.rows[i].join(" ").toLowerCase();
      row.hidden = !words.every((word) => line.includes(word));
      left += row.hidden ? 0 : 1;
    });
    element("count").textContent = `${counted(left)} of ${counted(data.table.rows.length)} shown (the graph has ${counted(data.table.of)} edges).`;
  }

  // --- start ---------------------------------------------------------------------------------------------------------

  const slider = element("rounds");
  slider.max = String(state);
  slider.value = String(state);
  slider.disabled = state === 0;
  let waiting = false;
  slider.addEventListener("input", () => {
    if (waiting) return;  // one change for each frame, however fast the hand is
    waiting = true;
    requestAnimationFrame(() => { waiting = false; moveTo(Number(slider.value)); });
  });

  const select = element("coloring");
  ways.forEach((one, i) => {
    const option = document.createElement("option");
    option.value = String(i);
    option.textContent = one.what;
    select.append(option);
  });
  if (ways.length < 2) element("color-label").remove();
  else {
    select.value = String(ways.length - 1);
    select.addEventListener("change", () => { way = ways[Number(select.value)]; drawAll(); drawSizes(); });
  }
  element("search").addEventListener("input", filterTable);

  tellState();
  fillTable();
  // The drawing first, then the charts one by one: the page answers in between.
  const pause = () => new Promise((done) => setTimeout(done, 0));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  (async () => {
    await frame();  // the sketch is on the screen
    await pause();
    await drawAll();
    element("sketch")?.remove();
    for (const draw of [drawTradeoff, drawConvergence, drawSpectrum, drawSizes]) {
      await pause();
      await draw();
    }
    document.body.dataset.drawn = "yes";
  })();
})();
