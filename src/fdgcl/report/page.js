"use strict";
(() => {
  const SYMBOLS = ["●", "◆", "■", "▲", "✚", "★"];
  const palettes = JSON.parse(document.getElementById("palettes").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)").matches;
  const drawn = [];
  let printing = false;

  const palette = () => palettes[dark.matches && !printing ? "dark" : "light"];
  const colorOf = (number) =>
    number < 0 ? palette().quiet : palette().colors[number % palette().colors.length];
  const faint = (hex, alpha) =>
    `rgba(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(",")},${alpha})`;
  const variable = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function paint(trace) {
    const color = colorOf(trace.meta.color);
    const painted = { ...trace, marker: { ...trace.marker, color } };
    if (trace.line) painted.line = { ...trace.line, color };
    // Whiskers of several curves stand at the same places: faint ones can overlap.
    const whiskers = trace.mode === "lines" ? faint(color, 0.5) : color;
    if (trace.error_y) painted.error_y = { ...trace.error_y, color: whiskers };
    if (trace.fill) painted.fillcolor = faint(color, 0.18);
    if (trace.type !== "bar") return painted;
    if (trace.error_y) painted.error_y.color = variable("--ink");
    painted.marker.line = { color, width: 1.2 };
    if (trace.meta.dashed) {
      const pattern = { ...trace.marker.pattern, fgcolor: color, bgcolor: faint(color, 0.08) };
      painted.marker = { ...painted.marker, pattern };
    }
    return painted;
  }

  function dress(layout) {
    const axis = {
      gridcolor: variable("--grid"),
      linecolor: variable("--rule"),
      tickcolor: variable("--rule"),
      ticks: "outside",
      ticklen: 4,
    };
    const dressed = {
      autosize: true,
      font: { family: variable("--sans"), size: 12, color: variable("--soft") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 40, r: 12, t: 10, b: 36 },
      hovermode: "closest",
      hoverdistance: 30,
      dragmode: coarse ? false : "zoom",
      bargroupgap: 0.08,
      modebar: { bgcolor: "rgba(0,0,0,0)", color: variable("--soft"), activecolor: variable("--ink") },
      hoverlabel: {
        align: "left",
        bgcolor: variable("--paper"),
        bordercolor: variable("--rule"),
        font: { family: variable("--sans"), size: 12, color: variable("--ink") },
      },
      ...layout,
    };
    for (const name of ["xaxis", "yaxis", "yaxis2"])
      if (layout[name]) dressed[name] = { ...axis, ...layout[name] };
    return dressed;
  }

  function addLegend(entry) {
    const { traces, plot } = entry;
    if (traces.length < 2) return;
    const legend = document.createElement("div");
    legend.className = "legend";
    entry.keys = traces.map((trace, index) => {
      const button = document.createElement("button");
      const key = document.createElement("i");
      const { mark, dashed, filled, label, symbol } = trace.meta;
      key.className = [mark, dashed && "dashed", filled && "filled"].filter(Boolean).join(" ");
      if (mark === "points") key.textContent = SYMBOLS[symbol];
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.title = "click: hide or show; double click: this one alone";
      button.append(key, document.createTextNode(label));
      button.addEventListener("click", () => toggle(entry, index));
      button.addEventListener("dblclick", () => isolate(entry, index));
      legend.append(button);
      return { button, key };
    });
    plot.before(legend);
  }

  const shown = ({ button }) => button.getAttribute("aria-pressed") === "true";

  function show(entry, wanted) {
    entry.keys.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(wanted[i])));
    Plotly.restyle(entry.plot, { visible: wanted });
  }

  function toggle(entry, index) {
    show(entry, entry.keys.map((key, i) => shown(key) !== (i === index)));
  }

  function isolate(entry, index) {
    const alone = entry.keys.every((key, i) => shown(key) === (i === index));
    show(entry, entry.keys.map((_, i) => alone || i === index));
  }

  function colorLegend(entry) {
    (entry.keys || []).forEach(({ key }, i) => {
      key.style.color = colorOf(entry.traces[i].meta.color);
    });
  }

  async function draw(element) {
    const spec = JSON.parse(element.querySelector("script").textContent);
    const plot = element.querySelector(".plot");
    const entry = { plot, traces: spec.data, layout: spec.layout };
    const config = {
      responsive: true,
      displaylogo: false,
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: spec.name },
    };
    addLegend(entry);
    colorLegend(entry);
    await Plotly.newPlot(plot, spec.data.map(paint), dress(spec.layout), config);
    drawn.push(entry);
  }

  function repaint() {
    for (const entry of drawn) {
      const visible = entry.keys ? entry.keys.map(shown) : [true];
      const traces = entry.traces.map((trace, i) => ({ ...paint(trace), visible: visible[i] }));
      Plotly.react(entry.plot, traces, dress(entry.layout));
      colorLegend(entry);
    }
  }

  dark.addEventListener("change", repaint);
  for (const moment of ["beforeprint", "afterprint"])
    addEventListener(moment, () => {
      printing = moment === "beforeprint";
      document.documentElement.classList.toggle("printing", printing);
      repaint();
    });

  (async () => {
    // One figure at a time, so that the page can be read and scrolled meanwhile.
    for (const element of document.querySelectorAll("figure.drawing")) {
      await draw(element);
      await new Promise((resolve) => setTimeout(resolve));
    }
    document.documentElement.dataset.drawn = "all";
  })();
})();
