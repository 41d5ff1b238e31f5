"use strict";
// Draws the data that preview.js has read. Text of the user enters the page by textContent only, or escaped into plotly.
(function () {
  const { data, axis, ids, degrees, edges, colorings } = graspel;
  const n = ids.length;
  const element = (id) => document.getElementById(id);
  const FONT = { family: "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif", size: 13, color: "#222" };
  const SYMBOLS = ["circle", "diamond", "square", "cross", "x", "circle-open"];
  const CONFIG = { displaylogo: false, responsive: true, displayModeBar: false };
  const [BLUE, ORANGE, , VERMILLION] = data.colors;

  // --- texts and numbers ---------------------------------------------------------------------------------------------

  // plotly interprets some HTML in its texts: this escapes all of it.
  const escapeText = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const shorten = (text) => (Array.from(text).length > 28 ? `${Array.from(text).slice(0, 27).join("")}…` : text);
  const formatCount = (number) => number.toLocaleString("en");
  const formatNumber = (number) => Number(number.toPrecision(3)).toString();

  // --- the drawing ---------------------------------------------------------------------------------------------------

  function hasWebGL() {
    try {
      const canvas = document.createElement("canvas");
      return Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
    } catch (error) {
      return false;
    }
  }
  const inSpace = hasWebGL();  // 3D drawings need it; without it the drawing is flat
  const letters = inSpace ? ["x", "y", "z"] : ["x", "y"];

  // The coordinates of the edges of some rounds, as one line with gaps.
  function edgeLines(isWanted) {
    const chosen = [];
    for (let e = 0; e < edges.rounds.length; e++) if (isWanted(edges.rounds[e])) chosen.push(e);
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

  function makeTrace(coordinates, more) {
    const trace = { type: inSpace ? "scatter3d" : "scatter", ...more };
    letters.forEach((letter, k) => { trace[letter] = coordinates[k]; });
    return trace;
  }

  function edgeTraces(state) {
    return [
      makeTrace(edgeLines((round) => round === 0), {
        mode: "lines", name: "edges, start", hoverinfo: "skip", showlegend: true,
        line: { color: "#8a8a8a", width: inSpace ? 2 : 0.7 },
      }),
      makeTrace(edgeLines((round) => round > 0 && round <= state), {
        mode: "lines", name: "edges, rounds", hoverinfo: "skip", showlegend: true,
        line: { color: VERMILLION, width: inSpace ? 4 : 2 },
      }),
    ];
  }

  function pointTraces(coloring) {
    const groups = new Map();
    for (let i = 0; i < n; i++) {
      const k = coloring ? coloring.classes[i] : 0;
      if (!groups.has(k)) groups.set(k, []);
      groups.get(k).push(i);
    }
    const size = n > 5000 ? 2.2 : n > 1000 ? 3.2 : 5;
    return [...groups.keys()].sort((a, b) => a - b).map((k) => {
      const group = groups.get(k);
      const name = coloring ? escapeText(shorten(coloring.names[k])) : "points";
      return makeTrace(letters.map((_, a) => Float32Array.from(group, (i) => axis[a][i])), {
        mode: "markers", name, hoverinfo: "text", legendgroup: String(k),
        text: group.map((i) =>
          `point ${ids[i]}` + colorings.map((other) => `<br>${other.kind} ${escapeText(other.names[other.classes[i]])}`).join("") +
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
  let coloring = graspel.firstColoring;

  function drawAll() {
    return Plotly.react("drawing", [...edgeTraces(state), ...pointTraces(coloring)], drawingLayout(), { ...CONFIG, displayModeBar: true, plotGlPixelRatio: window.devicePixelRatio || 1 });
  }

  // --- the slider ----------------------------------------------------------------------------------------------------

  function showState() {
    const here = data.states[state];
    const rounds = `${state} ${state === 1 ? "round" : "rounds"}`;
    const eta = here.eta === null ? "" : `, largest distortion ${formatNumber(here.eta)}`;
    element("state").textContent = `after ${rounds}: ${formatCount(here.edges)} edges, density ${here.density.toFixed(3)}${eta}`;
  }

  function moveTo(next) {
    state = next;
    showState();
    const found = edgeLines((round) => round > 0 && round <= state);
    const change = {};
    letters.forEach((letter, k) => { change[letter] = [found[k]]; });
    Plotly.restyle("drawing", change, [1]);
    const here = data.states[state];
    if (element("tradeoff").data) Plotly.restyle("tradeoff", { x: [[here.density]], y: [[here.eta]] }, [1]);
  }

  // --- charts --------------------------------------------------------------------------------------------------------

  const chartLayout = (x, y, more) => ({
    font: FONT, margin: { l: 64, r: 20, t: 10, b: 48 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff", showlegend: false,
    xaxis: { title: { text: x }, gridcolor: "#eee", zeroline: false }, yaxis: { title: { text: y }, gridcolor: "#eee", zeroline: false },
    ...more,
  });
  const makeLogarithmic = (layout, key) => {
    Object.assign(layout[key], { type: "log", exponentformat: "power", dtick: undefined, nticks: 8 });
    return layout;
  };

  function drawTradeoff() {
    const known = data.states.map((one, round) => ({ ...one, round })).filter((one) => one.eta !== null);
    const here = data.states[state];
    const layout = makeLogarithmic(chartLayout("density, edges per point", "largest distortion η"), "yaxis");
    layout.xaxis.nticks = 6;
    return Plotly.newPlot("tradeoff", [
      { x: known.map((s) => s.density), y: known.map((s) => s.eta), mode: "lines+markers", line: { color: BLUE, width: 2 },
        text: known.map((s) => `after ${s.round} ${s.round === 1 ? "round" : "rounds"}`), hovertemplate: "%{text}<br>density %{x:.4f}<br>η %{y:.3g}<extra></extra>" },
      { x: [here.density], y: [here.eta], mode: "markers", hoverinfo: "skip",
        marker: { color: VERMILLION, size: 15, symbol: "circle-open", line: { width: 3 } } },
    ], layout, CONFIG);
  }

  function drawConvergence() {
    const rounds = data.rounds.map((one) => one.round);
    const layout = makeLogarithmic(chartLayout("round", "largest distortion η", {
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
    const layout = chartLayout("number of the eigenvalue", "eigenvalue λ", { bargap: 0.75 });
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
    if (!coloring) {
      element("sizes-section").remove();
      return null;
    }
    const order = coloring.sizes.map((_, k) => k).sort((a, b) => coloring.sizes[b] - coloring.sizes[a]);
    element("sizes-note").textContent = `Points in each ${coloring.kind}: ${coloring.names.length} in all, largest first.`;
    element("sizes").style.height = `${Math.max(320, 60 + 20 * order.length)}px`;
    const layout = chartLayout("points", "", { margin: { l: 20, r: 20, t: 10, b: 48 } });
    Object.assign(layout.yaxis, { automargin: true, autorange: "reversed", tickmode: "array", tickvals: order.map((_, i) => i),
      ticktext: order.map((k) => escapeText(shorten(coloring.names[k]))) });
    return Plotly.react("sizes", [{
      type: "bar", orientation: "h", x: order.map((k) => coloring.sizes[k]), y: order.map((_, i) => i),
      marker: { color: order.map((k) => data.colors[k % data.colors.length]) },
      text: order.map((k) => formatCount(coloring.sizes[k])), textposition: "auto", hoverinfo: "none",
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
    const terms = element("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let nShown = 0;
    [...element("edges").tBodies[0].rows].forEach((row, i) => {
      const line = data.table.rows[i].join(" ").toLowerCase();
      row.hidden = !terms.every((term) => line.includes(term));
      nShown += row.hidden ? 0 : 1;
    });
    element("count").textContent = `${formatCount(nShown)} of ${formatCount(data.table.rows.length)} shown (the graph has ${formatCount(data.table.n_edges)} edges).`;
  }

  // --- start ---------------------------------------------------------------------------------------------------------

  const slider = element("rounds");
  slider.max = String(state);
  slider.value = String(state);
  slider.disabled = state === 0;
  let waiting = false;
  slider.addEventListener("input", () => {
    if (waiting) return;  // at most one change per frame
    waiting = true;
    requestAnimationFrame(() => { waiting = false; moveTo(Number(slider.value)); });
  });

  const select = element("coloring");
  colorings.forEach((one, i) => {
    const option = document.createElement("option");
    option.value = String(i);
    option.textContent = one.kind;
    select.append(option);
  });
  if (colorings.length < 2) element("color-label").remove();
  else {
    select.value = String(colorings.length - 1);
    select.addEventListener("change", () => { coloring = colorings[Number(select.value)]; drawAll(); drawSizes(); });
  }
  element("search").addEventListener("input", filterTable);

  showState();
  fillTable();
  // The drawing first, then the charts one by one, with pauses in which the page responds to the user.
  const pause = () => new Promise((done) => setTimeout(done, 0));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  (async () => {
    await frame();  // now the preview is on the screen
    await pause();
    await drawAll();
    element("preview")?.remove();
    for (const draw of [drawTradeoff, drawConvergence, drawSpectrum, drawSizes]) {
      await pause();
      await draw();
    }
    document.body.dataset.drawn = "yes";
  })();
})();
