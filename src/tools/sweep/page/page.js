"use strict";
(() => {
  const { name, axes, columns, rows, complete, points, technology, machines, errors, answer } = sweep;
  // Rows are points, or machines with several workloads.
  const rowName = machines ? "machine" : "point", cycles = machines ? "mean.cycles" : "cycles", reason = machines ? "fails" : "reason";
  const byName = Object.fromEntries(columns.map((column, i) => [column.name, i]));
  const value = (row, column) => row[byName[column]];
  const $ = (selector, root = document) => root.querySelector(selector);
  const numeric = columns.map((column) => column.name).filter((column) => {
    const known = rows.map((row) => value(row, column)).filter((v) => v !== null && v !== undefined);
    return column !== rowName && known.length > 0 && known.every((v) => typeof v === "number");
  });
  const changing = numeric.filter((column) => new Set(rows.map((row) => value(row, column))).size > 1);
  const failed = rows.filter((row) => value(row, cycles) === null);
  const ran = rows.filter((row) => value(row, cycles) !== null);
  const moreIsBetter = (column) => /utilization|occupancy|gops|per_s|share|efficiency|hit_rate|issuing/.test(column);
  const meets = (row) => !machines || value(row, "meets") === true;
  const meeting = ran.filter(meets);
  // Share by which the model may be wrong about a column.
  const errorOf = (column) => errors[column.split(".").pop()] ?? 0;
  const about = (column) => { const c = columns[byName[column]]; return c && c.unit && c.unit !== column ? `${column}, ${c.unit}` : column; };
  const text = (v) => v === null || v === undefined ? "" : typeof v === "number" ? (Number.isInteger(v) ? v.toLocaleString("en") : String(+v.toPrecision(6))) : String(v);
  const short = (v) => typeof v === "number" && Math.abs(v) >= 1e4 ? (v >= 1e9 ? +(v / 1e9).toPrecision(3) + "G" : v >= 1e6 ? +(v / 1e6).toPrecision(3) + "M" : +(v / 1e3).toPrecision(3) + "k") : text(v);
  const compare = (a, b) => a === b ? 0 : a === null ? 1 : b === null ? -1 : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });

  // Theme: the reader's choice, else the system's.
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const asked = new URLSearchParams(location.search).get("theme");
  let dark = asked ? asked === "dark" : system.matches;
  const css = (variable) => getComputedStyle(root).getPropertyValue(variable).trim();
  const palette = () => dark ? ["#3d5a99", "#3f83cc", "#53b3a6", "#d9d36a", "#ffb04f"] : ["#b4cfe8", "#7fb2dd", "#3f8fc9", "#1f5a99", "#0b2a55"];

  const unmeasured = ran.filter((row) => value(row, "measured") === false).length, slower = ran.filter((row) => value(row, "slower")).length;
  $("#title").textContent = name;
  // Not while the page is in use.
  let touched = 0;
  for (const event of ["pointerdown", "keydown", "wheel"]) addEventListener(event, () => { touched = Date.now(); }, { passive: true });
  if (sweep.running) setInterval(() => { if (Date.now() - touched > 20000) location.reload(); }, 5000);
  $("#summary").textContent = `${rows.length} of ${points} ${rowName}s, ${ran.length} with a result` + (machines ? `, ${meeting.length} meet everything` : "") + (failed.length ? `, ${failed.length} without` : "") + (complete ? "" : sweep.running ? ", the others run: this page looks for them every five seconds" : ", not all completed") + (unmeasured ? `, ${unmeasured} on unmeasured machines` : "") + (slower ? `, ${slower} slower than a smaller neighbour` : "");

  const role = (id, r) => $(`#${id} [data-role=${r}]`);
  const fill = (select, names, chosen) => {
    select.replaceChildren(...names.map((n) => new Option(n, n, false, Array.isArray(chosen) ? chosen.includes(n) : n === chosen)));
  };
  const first = (wanted, among) => wanted.find((w) => among.includes(w)) ?? among[0];

  // The numbers of a chart as a file.
  const csvText = (lines) => lines.map((line) => line.map((v) => { const s = v === null || v === undefined ? "" : String(v); return /[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s; }).join(",")).join("\n") + "\n";
  const csvOf = (names, list) => csvText([names, ...list.map((row) => names.map((column) => value(row, column)))]);

  // A chart in a panel: drawn again when what it shows, the theme or the size changes, saved as PNG or SVG.
  const drawings = [];
  const panel = (id, option, click) => {
    const box = $("#" + id), place = $(".chart", box);
    const drawing = { box, chart: null, csv: () => csvOf(columns.map((column) => column.name), ran), draw() {
      if (!drawing.chart) {
        drawing.chart = charts.init(place, null, { renderer: "canvas" });
        if (click) drawing.chart.on("click", click);
      }
      drawing.chart.setOption(option(), { notMerge: true });
    } };
    const save = (kind) => {
      const link = document.createElement("a");
      link.download = `${name}-${id}.${kind}`;
      if (kind === "csv") link.href = URL.createObjectURL(new Blob([drawing.csv()], { type: "text/csv" }));
      else if (kind === "png") link.href = drawing.chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: css("--back") });
      else {
        const scratch = charts.init(null, null, { renderer: "svg", ssr: true, width: place.clientWidth, height: place.clientHeight });
        scratch.setOption({ ...option(), animation: false, backgroundColor: css("--back") });
        link.href = URL.createObjectURL(new Blob([scratch.renderToSVGString()], { type: "image/svg+xml" }));
        scratch.dispose();
      }
      link.click();
      return link.href;
    };
    drawing.save = save;
    box.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", () => save(button.dataset.save)));
    box.querySelectorAll("select, input").forEach((input) => input.addEventListener("change", () => drawing.draw()));
    drawings.push(drawing);
    return drawing;
  };
  const base = () => ({ animation: false, textStyle: { color: css("--text"), fontFamily: "system-ui, sans-serif" }, tooltip: { confine: true, backgroundColor: css("--back"), borderColor: css("--line"), textStyle: { color: css("--text") } } });
  const axisLook = () => ({ axisLine: { lineStyle: { color: css("--soft") } }, axisLabel: { color: css("--soft"), hideOverlap: true, formatter: (v) => short(v) }, splitLine: { lineStyle: { color: css("--line") } }, nameTextStyle: { color: css("--text") } });
  const escaped = (s) => String(s).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const tip = (row, extra = []) => [`<b>${rowName} ${value(row, rowName)}</b>`, ...axes.concat(extra.filter((c) => !axes.includes(c))).map((c) => `${escaped(c)} ${escaped(text(value(row, c)))}`)].join("<br>");
  const colours = (column, at) => {
    const known = ran.map((row) => value(row, column)).filter((v) => typeof v === "number");
    const narrow = window.innerWidth < 640;
    return { type: "continuous", min: Math.min(...known), max: Math.max(...known), dimension: at, calculable: !narrow, inRange: { color: palette() }, right: narrow ? "center" : 4, top: narrow ? undefined : "middle", bottom: narrow ? 0 : undefined, orient: narrow ? "horizontal" : "vertical", itemHeight: narrow ? 90 : 140, itemWidth: 12, formatter: (v) => short(+v.toPrecision(3)), textStyle: { color: css("--soft") } };
  };

  const kStar = "path://M12 1l3.2 7.2 7.8.7-5.9 5.2 1.8 7.7L12 17.7 5.1 21.8l1.8-7.7L1 8.9l7.8-.7z";

  // The answer: the machine, what it must meet, and what binds.
  const percent = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;
  const cells = (line, list, last = false) => list.forEach((word, i) => { const cell = line.insertCell(); cell.textContent = word; if (i === 0 || (last && i === list.length - 1)) cell.className = "words"; });
  if (answer) {
    $("#answer").hidden = false;
    $("#verdict").textContent = answer.verdict.trim();
    if (!answer.meets) $("#verdict").className = "bad";
    $("#shared").textContent = answer.shared.trim();
    $("#untried").textContent = answer.untried.trim();
    $("#answer-command").textContent = answer.command;
    answer.limits.forEach((limit, i) => {
      const line = $("#limits tbody").insertRow();
      if (!limit.met) line.className = "failed";
      if (limit.text) cells(line, [`${limit.text} `, "", ""]);
      else cells(line, [`${limit.column} ${limit.sign} ${text(limit.limit)} `, limit.value === null ? "unknown" : text(limit.value), limit.margin === null ? "" : percent(limit.margin)]);
      const why = document.createElement("small");
      line.cells[0].append(why);
      why.textContent = [!limit.met ? "missed" : i === 0 ? "binds" : "", limit.margin !== null && Math.abs(limit.margin) < limit.error ? `inside the model's error of ${Math.round(100 * limit.error)} %` : ""].filter(Boolean).join(", ");
      why.className = !limit.met ? "bad" : i === 0 ? "badge rules" : "soft";
    });
  }

  // Pareto front: the points that no other point beats in both columns.
  const front = (list, x, y, lessX, lessY) => {
    const better = (a, b, less) => less ? a < b : a > b;
    const sorted = list.filter((row) => typeof value(row, x) === "number" && typeof value(row, y) === "number")
      .sort((a, b) => (value(a, x) - value(b, x)) * (lessX ? 1 : -1) || (value(a, y) - value(b, y)) * (lessY ? 1 : -1));
    const best = [];
    for (const row of sorted) if (!best.length || better(value(row, y), value(best[best.length - 1], y), lessY)) best.push(row);
    return best;
  };
  // Neighbours on the front that are within the error of the model in a column.
  const closer = (best, column) => {
    const pairs = best.slice(1).map((row, i) => [best[i], row]).filter(([a, b]) => Math.abs(value(a, column) / value(b, column) - 1) < errorOf(column));
    return pairs.length ? `. In ${column}, ${pairs.slice(0, 8).map((pair) => pair.map((row) => value(row, rowName)).join(" and ")).join(", ")}${pairs.length > 8 ? ", .." : ""} are within the model's error of ${Math.round(100 * errorOf(column))} %: their order is uncertain` : "";
  };
  const pareto = panel("pareto", () => {
    const [x, y, colour] = ["x", "y", "colour"].map((r) => role("pareto", r).value);
    const lessX = role("pareto", "x-less").checked, lessY = role("pareto", "y-less").checked;
    const log = (column) => role("pareto", "log").checked && ran.every((row) => value(row, column) === null || value(row, column) > 0) ? "log" : "value";
    const candidates = meeting.length ? meeting : ran, best = front(candidates, x, y, lessX, lessY);
    role("pareto", "note").textContent = `${best.length} of ${candidates.length} ${rowName}s${meeting.length < ran.length && meeting.length ? " that meet everything" : ""} are on the front: ${best.slice(0, 24).map((row) => value(row, rowName)).join(", ")}${best.length > 24 ? ", .." : ""}` +
      (meeting.length < ran.length ? "; pale ones do not meet everything" : "") + [x, y].map((column) => closer(best, column)).join("");
    const limits = (column, key) => answer ? answer.limits.filter((limit) => limit.column === column).map((limit) => ({ [key]: limit.limit, label: { formatter: `${limit.sign} ${short(limit.limit)}`, color: css("--bad"), position: key === "xAxis" ? "insideEndTop" : "insideStartTop" } })) : [];
    const star = answer ? ran.filter((row) => value(row, rowName) === answer.machine) : [];
    const spot = (row) => ({ value: [value(row, x), value(row, y), value(row, colour)], row, itemStyle: meets(row) ? undefined : { opacity: 0.25 } });
    const bars = (column, ends) => ({ type: "line", symbol: "none", silent: true, lineStyle: { color: css("--soft"), width: 1 }, data: errorOf(column) ? best.flatMap((row) => [...ends(row, errorOf(column)), ["-", "-"]]) : [] });
    return { ...base(), grid: { left: 70, right: window.innerWidth < 640 ? 20 : 90, top: 20, bottom: window.innerWidth < 640 ? 80 : 55 },
      tooltip: { ...base().tooltip, formatter: (p) => p.data.row ? tip(p.data.row, [x, y, colour]) : "" },
      xAxis: { type: log(x), scale: true, name: about(x), nameLocation: "middle", nameGap: 30, ...axisLook() },
      yAxis: { type: log(y), scale: true, name: about(y), nameLocation: "middle", nameGap: 52, ...axisLook() },
      dataZoom: [{ type: "inside" }, { type: "inside", orient: "vertical" }],
      visualMap: colour ? { ...colours(colour, 2), seriesIndex: 0 } : undefined,
      series: [{ type: "scatter", symbolSize: 9, itemStyle: { borderColor: css("--soft"), borderWidth: 0.6 }, data: ran.map(spot), markLine: { silent: true, symbol: "none", lineStyle: { color: css("--bad"), type: "dashed" }, data: [...limits(x, "xAxis"), ...limits(y, "yAxis")] } },
        { type: "line", step: "end", symbol: "circle", symbolSize: 13, lineStyle: { color: css("--bad"), width: 2 }, itemStyle: { color: "transparent", borderColor: css("--bad"), borderWidth: 2 }, data: best.map((row) => ({ ...spot(row), itemStyle: undefined })) },
        bars(x, (row, e) => [1 - e, 1 + e].map((f) => [value(row, x) * f, value(row, y)])), bars(y, (row, e) => [1 - e, 1 + e].map((f) => [value(row, x), value(row, y) * f])),
        { type: "scatter", symbol: kStar, symbolSize: 24, z: 5, itemStyle: { color: css("--accent"), borderColor: css("--back"), borderWidth: 1 }, data: star.map((row) => ({ ...spot(row), itemStyle: undefined })) }] };
  }, (p) => p.data && p.data.row && open(p.data.row));

  // Heat map: where several points fall on one place, the least, the most or the mean of them.
  const heat = panel("heat", () => {
    const [x, y, v, pick] = ["x", "y", "value", "pick"].map((r) => role("heat", r).value);
    const places = (column) => [...new Set(rows.map((row) => text(value(row, column))))].sort((a, b) => compare(+a.replace(/,/g, "") || a, +b.replace(/,/g, "") || b));
    const across = places(x), up = places(y), cells = new Map();
    for (const row of ran) {
      if (typeof value(row, v) !== "number") continue;
      const key = across.indexOf(text(value(row, x))) + "," + up.indexOf(text(value(row, y)));
      const cell = cells.get(key) ?? { rows: [], sum: 0 };
      cell.rows.push(row);
      cell.sum += value(row, v);
      const better = pick === "max" ? value(row, v) > value(cell.best ?? row, v) : value(row, v) < value(cell.best ?? row, v);
      if (!cell.best || better) cell.best = row;
      cells.set(key, cell);
    }
    const data = [...cells].map(([key, cell]) => ({ value: [...key.split(",").map(Number), pick === "mean" ? cell.sum / cell.rows.length : value(cell.best, v)], row: cell.best, many: cell.rows.length }));
    const known = data.map((d) => d.value[2]);
    // Readable on its cell: the palettes go from light to dark, or from dark to light.
    const low = Math.min(...known), span = Math.max(...known) - low || 1;
    for (const d of data) d.label = { color: (d.value[2] - low) / span < 0.4 === dark ? "#ffffff" : "#10151d" };
    const label = across.length * up.length <= 150 && window.innerWidth >= 640;
    return { ...base(), grid: { left: 90, right: window.innerWidth < 640 ? 20 : 90, top: 16, bottom: window.innerWidth < 640 ? 80 : 55 },
      tooltip: { ...base().tooltip, formatter: (p) => `${p.data.many} point${p.data.many > 1 ? "s" : ""}: ${escaped(v)} ${text(p.data.value[2])}<br>${tip(p.data.row, [v])}` },
      xAxis: { type: "category", data: across, name: about(x), nameLocation: "middle", nameGap: 30, ...axisLook() },
      yAxis: { type: "category", data: up, name: about(y), nameLocation: "middle", nameGap: 62, ...axisLook() },
      visualMap: { ...colours(v, 2), min: Math.min(...known), max: Math.max(...known) },
      series: [{ type: "heatmap", data, label: { show: label, formatter: (p) => short(+p.data.value[2].toPrecision(3)) }, itemStyle: { borderColor: css("--panel"), borderWidth: 1 } }] };
  }, (p) => p.data && p.data.row && open(p.data.row));

  // Parallel coordinates.
  let chosen = null;
  const parallel = panel("parallel", () => {
    const shown = [...role("parallel", "columns").selectedOptions].map((option) => option.value).slice(0, window.innerWidth < 640 ? 5 : 14);
    const narrow = window.innerWidth < 640;
    const dims = shown.map((column, dim) => {
      const known = [...new Set(ran.map((row) => value(row, column)))];
      const words = known.some((v) => typeof v !== "number");
      return { dim, name: column, nameRotate: 0, type: words ? "category" : "value", scale: true, data: words ? known.map(text).sort(compare) : undefined, axisLine: { lineStyle: { color: css("--soft") } }, axisLabel: { color: css("--soft"), formatter: (v) => short(v) }, nameTextStyle: { color: css("--text"), fontSize: narrow ? 10 : 12, width: narrow ? 66 : 110, overflow: "truncate" } };
    });
    const last = shown.length - 1;
    const numbers = last >= 0 && dims[last].type === "value";
    return { ...base(), tooltip: undefined, parallel: { left: 44, right: narrow ? 44 : 110, top: 46, bottom: window.innerWidth < 640 ? 56 : 24, axisExpandable: false, parallelAxisDefault: { nameLocation: "end", nameGap: 18, areaSelectStyle: { width: 22, color: css("--accent"), opacity: 0.25 } } },
      parallelAxis: dims, visualMap: numbers ? { ...colours(shown[last], last), seriesIndex: 0 } : undefined,
      series: [{ type: "parallel", inactiveOpacity: 0.03, activeOpacity: 0.9, lineStyle: { width: 1.4, opacity: ran.length > 300 ? 0.35 : 0.7 }, data: ran.map((row) => shown.map((c) => dims[shown.indexOf(c)].type === "category" ? text(value(row, c)) : value(row, c))) }] };
  });
  role("parallel", "clear").addEventListener("click", () => { chosen = null; parallel.chart.dispose(); parallel.chart = null; redraw(); list(); });

  // One step on each axis from that machine: bars of change, red where the step misses a limit.
  const misses = (why) => !/^best: /.test(why ?? "");  // a machine that cannot be better misses nothing
  const stepName = (step) => `${step.axis} ${text(step.from)} to ${text(step.to)}`;
  if (answer && answer.steps.length) {
    const box = $("#steps"), figures = [...new Set(answer.steps.flatMap((step) => Object.keys(step.changes)))];
    box.hidden = false;
    fill(role("steps", "figure"), figures, figures.includes(answer.best) ? answer.best : figures[0]);
    const steps = panel("steps", () => {
      const figure = role("steps", "figure").value;
      const sorted = [...answer.steps].sort((a, b) => Math.abs(a.changes[figure] ?? 0) - Math.abs(b.changes[figure] ?? 0));
      const narrow = window.innerWidth < 640;
      return { ...base(), grid: { left: narrow ? 132 : 220, right: 60, top: 10, bottom: 40 },
        tooltip: { ...base().tooltip, formatter: (p) => p.data.step ? [`<b>${escaped(stepName(p.data.step))}</b>`, ...Object.entries(p.data.step.changes).map(([c, share]) => `${escaped(c)} ${percent(share)}`), escaped(p.data.step.fails || "meets everything")].join("<br>") : "" },
        xAxis: { type: "value", name: `${figure}, %`, nameLocation: "middle", nameGap: 26, ...axisLook() },
        yAxis: { type: "category", data: sorted.map(stepName), ...axisLook(), axisLabel: { color: css("--text"), width: narrow ? 126 : 210, overflow: "break", fontSize: narrow ? 10 : 12 } },
        series: [{ type: "bar", barMaxWidth: 22, label: { show: true, position: "right", color: css("--text"), formatter: (p) => figure in p.data.step.changes ? percent(p.data.value / 100) : "did not run" },
          data: sorted.map((step) => ({ value: +(100 * (step.changes[figure] ?? 0)).toFixed(2), step, itemStyle: { color: !step.fails ? css("--accent") : misses(step.fails) ? css("--bad") : css("--soft") } })) }] };
    }, (p) => { const row = p.data && p.data.step && ran.find((r) => value(r, rowName) === p.data.step.machine); if (row) open(row); });
    steps.csv = () => csvText([["axis", "from", "to", ...figures, "fails"], ...answer.steps.map((step) => [step.axis, step.from, step.to, ...figures.map((f) => step.changes[f]), step.fails])]);
    const names = $("thead", box).insertRow();
    ["step", ...figures, "then"].forEach((name, i) => { const cell = document.createElement("th"); cell.textContent = name; if (i === 0 || i > figures.length) cell.className = "words"; names.append(cell); });
    for (const step of answer.steps) {
      const line = $("tbody", box).insertRow();
      if (step.fails) line.className = misses(step.fails) ? "failed" : "soft";
      cells(line, [stepName(step), ...figures.map((f) => f in step.changes ? percent(step.changes[f]) : ""), step.fails || "meets everything"], true);
    }
  }

  // A second of frames: what the accelerator works for, workload by workload.
  const kinds = () => dark ? ["#6ea8ff", "#ffb04f", "#53b3a6", "#d98cc8", "#d9d36a"] : ["#1a5fd0", "#b25c00", "#1e7d6f", "#8b3a86", "#6b6500"];
  if (answer && answer.frames.length) {
    const box = $("#frames"), end = answer.frames_us, whole = end === 1e6;
    box.hidden = false;
    $(".chart", box).style.height = `${90 + 50 * machines.workloads.length}px`;
    const busy = (w) => answer.frames.filter((f) => f[0] === w).reduce((sum, f) => sum + Math.min(f[3], end) - f[2], 0) / end;
    const all = machines.workloads.reduce((sum, _, w) => sum + busy(w), 0);
    role("frames", "note").textContent = `The accelerator works in ${(100 * all).toFixed(1)} % of ${whole ? "this second" : `the first ${short(end / 1e3)} ms`} and waits in the rest. All workloads begin at 0.`;
    const frames = panel("frames", () => ({ ...base(), grid: { left: window.innerWidth < 640 ? 100 : 150, right: 30, top: 10, bottom: 45 },
      tooltip: { ...base().tooltip, formatter: (p) => `${escaped(machines.workloads[p.value[0]])}, frame ${p.value[1]}<br>${short(p.value[2] / 1e3)} to ${short(p.value[3] / 1e3)} ms` },
      xAxis: { type: "value", min: 0, max: end / 1e3, name: "ms", nameLocation: "middle", nameGap: 26, ...axisLook() },
      yAxis: { type: "category", inverse: true, data: machines.workloads, ...axisLook(), axisLabel: { color: css("--text"), width: window.innerWidth < 640 ? 92 : 140, overflow: "break", fontSize: window.innerWidth < 640 ? 10 : 12 } },
      dataZoom: [{ type: "inside", xAxisIndex: 0, filterMode: "none" }],
      series: [{ type: "custom", clip: true, encode: { x: [2, 3], y: 0 }, data: answer.frames,
        renderItem: (_, api) => {
          const from = api.coord([api.value(2) / 1e3, api.value(0)]), to = api.coord([api.value(3) / 1e3, api.value(0)]), high = api.size([0, 1])[1] * 0.6;
          return { type: "rect", shape: { x: from[0], y: from[1] - high / 2, width: Math.max(0.5, to[0] - from[0]), height: high }, style: { fill: kinds()[api.value(0) % 5] } };
        } }] }));
    frames.csv = () => csvText([["workload", "frame", "start_us", "end_us"], ...answer.frames.map((f) => [machines.workloads[f[0]], ...f.slice(1)])]);
    const chosenRow = rows.find((row) => value(row, rowName) === answer.machine);
    machines.workloads.forEach((work, w) => cells($("tbody", box).insertRow(), [work, String(new Set(answer.frames.filter((f) => f[0] === w).map((f) => f[1])).size), `${(100 * busy(w)).toFixed(1)} %`, text(value(chosenRow, `${work}.latency_ms`))]));
  }

  // Power of the machines that need least of it, by consumer.
  if (answer && "system_mw" in byName) {
    const known = (meeting.length ? meeting : ran).filter((row) => typeof value(row, "system_mw") === "number").sort((a, b) => value(a, "system_mw") - value(b, "system_mw")).slice(0, 12);
    if (known.length) {
      const box = $("#power"), consumers = ["accelerator busy", "accelerator idle", "memory busy", "memory idle"];
      // Energy of frames is that of busy time; the rest of the power is that of waiting.
      const parts = (row) => {
        const busy = (figure) => machines.workloads.reduce((sum, work, w) => sum + 1e-3 * machines.rates[w] * (value(row, `${work}.${figure}`) ?? 0), 0);
        const accelerator = busy("energy_uj"), memory = busy("total_uj") - accelerator, all = value(row, "memory_mw");
        return [accelerator, value(row, "system_mw") - all - accelerator, memory, all - memory].map((mw) => Math.max(0, mw));
      };
      box.hidden = false;
      role("power", "note").textContent = `${known.length === 1 ? `The machine that ${meeting.length ? "meets everything" : "ran"}` : `The ${known.length} machines that ${meeting.length ? "meet everything" : "ran"} with the least power`}; the chosen one has a star.`;
      const name = (row) => (value(row, rowName) === answer.machine ? "★ " : "") + value(row, rowName);
      const power = panel("power", () => ({ ...base(), grid: { left: 60, right: 30, top: window.innerWidth < 640 ? 74 : 44, bottom: 45 }, legend: { top: 0, right: 0, textStyle: { color: css("--text") } }, tooltip: { ...base().tooltip, trigger: "axis", valueFormatter: (v) => `${text(+v.toPrecision(4))} mW` },
        xAxis: { type: "category", data: known.map(name), name: rowName, nameLocation: "middle", nameGap: 28, ...axisLook() },
        yAxis: { type: "value", name: "mW", ...axisLook() },
        series: consumers.map((consumer, i) => ({ name: consumer, type: "bar", stack: "all", itemStyle: { color: kinds()[i] }, data: known.map((row) => parts(row)[i]),
          ...(i === 0 ? { markLine: { silent: true, symbol: "none", lineStyle: { color: css("--bad"), type: "dashed" }, data: answer.limits.filter((limit) => limit.column === "system_mw").map((limit) => ({ yAxis: limit.limit, label: { formatter: `${limit.sign} ${short(limit.limit)}`, color: css("--bad"), position: "insideEndTop" } })) } } : {}) })) }), (p) => known[p.dataIndex] && open(known[p.dataIndex]));
      power.csv = () => csvText([[rowName, ...consumers.map((consumer) => `${consumer.replace(" ", "_")}_mw`), "system_mw"], ...known.map((row) => [value(row, rowName), ...parts(row), value(row, "system_mw")])]);
      for (const row of known) cells($("tbody", box).insertRow(), [name(row), ...parts(row).map((v) => text(+v.toPrecision(4))), text(value(row, "system_mw"))]);
    }
  }

  // The table.
  if (machines) $("#rows").textContent = "Machines";
  let order = [rowName, 1];
  const head = $("#table thead"), body = $("#table tbody"), kMost = 2000, kOnPaper = 8;
  const words = new Set(columns.map((c) => c.name).filter((c) => !numeric.includes(c) && c !== rowName));
  const few = () => [...new Set([rowName, ...axes, ...["meets", ...(machines ? ["area_mm2", "load", "system_mw", ...machines.workloads.map((w) => `${w}.latency_ms`), "mean.frames_per_s", "worst.frames_per_s", "mean.power_mw", "mean.total_uj", ...machines.workloads.map((w) => `${w}.frames_per_s`)] : []), reason === "fails" ? "fails" : "","cycles", "time_us", "gops", "utilization", "dram_efficiency", "bound", "bound_share", "energy_uj", "power_mw", "area_mm2", "measured", "slower", "verified", "reason"].filter((c) => c in byName)])];
  const signs = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => String(a) === String(b), "!=": (a, b) => String(a) !== String(b) };
  const matches = (filter) => {
    const tests = filter.split(",").map((part) => part.trim()).filter(Boolean).map((part) => {
      const m = part.match(/^(\S+)\s*(<=|>=|!=|<|>|=)\s*(.+)$/);
      if (m && m[1] in byName) return (row) => value(row, m[1]) !== null && signs[m[2]](value(row, m[1]), isNaN(+m[3]) ? m[3] : +m[3]);
      return (row) => row.some((v) => text(v).toLowerCase().includes(part.toLowerCase()) || String(v).toLowerCase().includes(part.toLowerCase()));
    });
    return (row) => tests.every((test) => test(row));
  };
  const list = () => {
    const shown = root.dataset.paper ? few().filter((c, i) => i < kOnPaper || c === reason) : $("#show").value === "all" ? columns.map((c) => c.name) : few();
    const wanted = matches($("#filter").value), found = rows.filter((row) => wanted(row) && (!chosen || chosen.has(row)));
    found.sort((a, b) => { const u = value(a, order[0]), v = value(b, order[0]); return u === null || v === null ? compare(u, v) : order[1] * compare(u, v); });
    $("#count").textContent = `${found.length} ${rowName}s` + (found.length > kMost ? `, the first ${kMost} shown` : "");
    head.replaceChildren(document.createElement("tr"));
    for (const column of shown) {
      const cell = document.createElement("th");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column + (order[0] === column ? (order[1] > 0 ? " ▲" : " ▼") : "");
      cell.append(button);
      cell.title = [columns[byName[column]].unit, columns[byName[column]].meaning].filter(Boolean).join(": ");
      if (words.has(column)) cell.className = "words";
      cell.addEventListener("click", () => { order = [column, order[0] === column ? -order[1] : 1]; list(); });
      head.firstChild.append(cell);
    }
    body.replaceChildren(...found.slice(0, kMost).map((row) => {
      const line = document.createElement("tr");
      line.tabIndex = 0;
      if (value(row, cycles) === null || value(row, "verified") === false) line.className = misses(value(row, reason)) ? "failed" : "soft";
      // A point without a result: its axes, then why.
      const why = value(row, cycles) === null && $("#show").value !== "all";
      for (const column of why ? shown.slice(0, axes.length + 1).concat(reason) : shown) {
        const cell = document.createElement("td");
        cell.textContent = text(value(row, column));
        if (why && column === reason) { cell.colSpan = shown.length - axes.length - 1; cell.className = "words why"; cell.title = cell.textContent; }
        else if (words.has(column)) { cell.className = column === reason && cell.textContent ? "words bad" : "words"; cell.title = cell.textContent; }
        line.append(cell);
      }
      line.addEventListener("click", () => open(row));
      line.addEventListener("keydown", (event) => event.key === "Enter" && open(row));
      return line;
    }));
  };
  // A link keeps what is chosen: axes of the charts, filter, columns.
  const kept = [["x", role("pareto", "x")], ["y", role("pareto", "y")], ["colour", role("pareto", "colour")], ["value", role("heat", "value")], ["filter", $("#filter")], ["show", $("#show")]];
  const keep = () => {
    const state = new URLSearchParams();
    for (const [key, input] of kept) if (input && input.value) state.set(key, input.value);
    history.replaceState(null, "", "#" + state);
  };
  const restore = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const [key, input] of kept) if (input && state.has(key) && (!input.options || [...input.options].some((option) => option.value === state.get(key)))) input.value = state.get(key);
  };
  for (const [, input] of kept) input.addEventListener("change", keep);
  $("#filter").addEventListener("input", list);
  $("#show").addEventListener("change", list);

  // A point: all of its columns, its own report, the command that runs it.
  const dialog = $("#point");
  function open(row) {
    const number = value(row, rowName), folder = (point) => `points/${String(point).padStart(4, "0")}/`;
    $("#point-title").textContent = `${rowName[0].toUpperCase()}${rowName.slice(1)} ${number}`;
    const parts = $("#point-body");
    parts.replaceChildren();
    const says = (words, bad) => { const p = document.createElement("p"); p.className = bad ? "bad" : "soft"; p.textContent = words; parts.append(p); };
    if (value(row, reason)) says(value(row, reason), true);
    if (value(row, "slower")) says(value(row, "slower"), false);
    const measured = value(row, "measured"), nearest = value(row, "nearest");
    if (measured === true || measured === false) {
      says(` ${sweep.measured[measured].sentence}`, false);
      parts.lastChild.insertAdjacentHTML("afterbegin", sweep.measured[measured].badge);
      if (nearest) parts.lastChild.append(` Nearest measured program: ${nearest}, sizes within ${value(row, "nearest_sizes")} x.`);
    }
    if (value(row, "assumed")) says(`Energy and area rest on assumptions: ${value(row, "assumed")}.`, false);
    const links = document.createElement("p");
    const works = machines && machines.workloads.length ? machines.workloads : [""];
    works.forEach((work, i) => {
      for (const file of value(row, cycles) === null ? ["messages.txt"] : ["report.txt", "result.json"]) {
        const link = document.createElement("a");
        link.href = folder(number + i) + file; link.textContent = `${work} ${file === "report.txt" ? "report" : file}`.trim(); link.style.marginRight = "16px";
        links.append(link);
      }
    });
    parts.append(links);
    const command = document.createElement("code");
    command.textContent = machines ? `${machines.command} ${number}` : value(row, "command");
    parts.append(command);
    const table = document.createElement("table");
    columns.forEach((column, i) => {
      if (row[i] === null || row[i] === "" || row[i] === undefined || ["command", reason, "slower", "assumed"].includes(column.name)) return;
      const line = table.insertRow();
      line.insertCell().textContent = column.name;
      line.insertCell().textContent = text(row[i]) + (column.unit ? " " + column.unit : "");
      line.title = column.meaning;
    });
    parts.append(table);
    dialog.showModal();
    dialog.scrollTop = 0;
  }
  $("#close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  // Where energies and areas come from.
  $("#technology summary").textContent = `Area and energy: technology ${technology.name}, ${technology.numbers.filter((n) => n.assumed).length} of ${technology.numbers.length} numbers are assumptions`;
  for (const number of technology.numbers) {
    const line = $("#technology tbody").insertRow();
    if (number.assumed) line.className = "assumed";
    for (const words of [number.name, `${text(number.value)} ${number.unit}`, number.meaning, (number.assumed ? "assumed: " : "") + number.source])
      line.insertCell().textContent = words;
  }

  // What is shown at first.
  const goodX = first(["area_mm2", "energy_uj", "dbb_read_bytes"], changing), goodY = first([...(machines ? ["mean.frames_per_s"] : []), "cycles", "time_us"].filter((c) => c !== goodX), changing);
  fill(role("pareto", "x"), numeric, goodX);
  fill(role("pareto", "y"), numeric, goodY);
  fill(role("pareto", "colour"), numeric, first(["mean.power_mw", "utilization", "energy_uj"], changing));
  restore();
  const follow = () => { role("pareto", "x-less").checked = !moreIsBetter(role("pareto", "x").value); role("pareto", "y-less").checked = !moreIsBetter(role("pareto", "y").value); };
  for (const r of ["x", "y"]) role("pareto", r).addEventListener("change", () => { follow(); pareto.draw(); });
  follow();
  const wide = (column) => { const known = ran.map((row) => value(row, column)); return Math.min(...known) > 0 && Math.max(...known) > 20 * Math.min(...known); };
  role("pareto", "log").checked = ran.length > 0 && wide(goodX) && wide(goodY);
  const places = axes.length > 1 ? axes : axes.concat(numeric);
  fill(role("heat", "x"), places, places[0]);
  fill(role("heat", "y"), places, places[1] ?? places[0]);
  fill(role("heat", "value"), numeric, first([cycles], changing));
  fill(role("parallel", "columns"), axes.concat(numeric.filter((c) => !axes.includes(c))), axes.concat(["dram_efficiency", "energy_uj", "area_mm2", "utilization", "cycles", "mean.power_mw", "mean.frames_per_s"].filter((c) => changing.includes(c) && !axes.includes(c))));

  const redraw = () => {
    if (ran.length === 1 && rows.length > 1 && $("#pareto")) {
      ["pareto", "heat", "parallel"].forEach((id) => { $("#" + id).parentElement.remove(); drawings.splice(drawings.findIndex((drawing) => drawing.box.id === id), 1); });  // of one machine they say nothing
    }
    if (ran.length === 0) { ["pareto", "heat", "parallel"].forEach((id) => $("#" + id).parentElement.remove()); ["answer", "steps", "frames", "power"].forEach((id) => $("#" + id).remove()); drawings.length = 0; return; }
    for (const drawing of drawings) drawing.draw();
    if (parallel.chart && !parallel.chart.listens) {
      parallel.chart.listens = true;
      parallel.chart.on("axisareaselected", () => {
        const indices = parallel.chart.getModel().getSeries()[0].getRawIndicesByActiveState("active");
        chosen = indices.length ? new Set(indices.map((i) => ran[i])) : null;
        list();
      });
    }
  };
  const setTheme = (now) => { dark = now; root.dataset.theme = dark ? "dark" : "light"; redraw(); };
  $("#theme").addEventListener("click", () => setTheme(!dark));
  system.addEventListener("change", (event) => setTheme(event.matches));
  setTheme(dark);
  // On paper all is light and as wide as a sheet.
  let shown = dark;
  const fit = (paper) => {
    if (paper) { shown = dark; root.dataset.paper = "yes"; } else delete root.dataset.paper;
    setTheme(paper ? false : shown);
    for (const drawing of drawings) { drawing.chart.resize(); drawing.draw(); }
    list();
  };
  addEventListener("beforeprint", () => fit(true));
  addEventListener("afterprint", () => fit(false));
  const sizes = new ResizeObserver(() => { for (const d of drawings) { d.chart.resize(); d.draw(); } });
  document.querySelectorAll(".chart").forEach((place) => sizes.observe(place));
  list();
  window.page = { drawings, open, front, ran, failed, meeting, list, chosen: () => chosen };  // for tests
  root.dataset.ready = "yes";
})();
