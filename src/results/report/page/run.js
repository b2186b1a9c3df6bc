"use strict";
(() => {
  const $ = (selector, at = document) => at.querySelector(selector);
  const run = JSON.parse($("#run").textContent), { result, explanation, cycles } = run;
  const make = (tag, words, name) => { const node = document.createElement(tag); if (words !== undefined) node.textContent = words; if (name) node.className = name; return node; };
  const whole = (n) => Math.round(n).toLocaleString("en");
  const short = (n, digits = 3) => n === null || n === undefined ? "" : Math.abs(n) >= 1e4 ? (n >= 1e9 ? +(n / 1e9).toPrecision(digits) + "G" : n >= 1e6 ? +(n / 1e6).toPrecision(digits) + "M" : +(n / 1e3).toPrecision(digits) + "k") : String(+n.toPrecision(digits));
  const percent = (part, all = cycles) => all ? `${(100 * part / all).toFixed(part / all < 0.0995 ? 2 : 1)} %` : "";
  const narrow = () => window.innerWidth < 640;
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- colours: one for each group of causes, another shade of it for each cause, the same on every page
  const kGroups = { array: "#4f9d69", array_idle: "#e0a030", memory: "#dd7a66", dram: "#d070a8", sdp: "#7a6fc0", pdp: "#3f8fc9", cdp: "#5bb5c9", bdma: "#8d6e63", rubik: "#a1887f", start_up: "#9aa5b5", end: "#78909c", software: "#b07aa1" };
  const lighter = (colour, share) => "#" + [1, 3, 5].map((at) => Math.round(255 - (255 - parseInt(colour.slice(at, at + 2), 16)) * share).toString(16).padStart(2, "0")).join("");
  const colourOf = (key) => {
    const [group, name] = key.split("/"), shown = name?.startsWith("dram_") ? "dram" : group, all = kCauses[shown] ?? [];
    return lighter(kGroups[shown] ?? "#999999", 1 - 0.7 * Math.max(0, all.indexOf(name)) / Math.max(all.length, 3));
  };
  const kCauses = { array: ["computing", "weight_load"], array_idle: ["weights", "data", "buffer_full", "accumulator_full"], sdp: ["pace", "operand_late"], start_up: ["begin", "bank_change", "pipeline"], end: ["drain", "write_back"],
    software: ["programming", "interrupt", "polling"], memory: ["latency", "bandwidth", "arbitration", "credits", "requests", "interface"], dram: ["dram_queue", "dram_bandwidth", "dram_row", "dram_group", "dram_turn", "dram_refresh", "dram_power"] };
  const words = (group, name) => `${group.replace(/_/g, " ")}: ${name.replace(/_/g, " ")}`;
  const leaves = (tree) => typeof tree === "number" ? tree : Object.values(tree ?? {}).reduce((sum, branch) => sum + leaves(branch), 0);
  const flat = (tree) => Object.entries(tree ?? {}).flatMap(([group, names]) => Object.entries(names).map(([name, spent]) => ({ group, name, key: `${group}/${name}`, cycles: leaves(spent), clients: typeof spent === "object" ? spent : null })));
  const causes = flat(result.causes).sort((a, b) => b.cycles - a.cycles);
  for (const cause of causes) cause.colour = colourOf(cause.key);

  // ---- steps: of a network, operations of a compiled file, or the run itself
  const listed = result.steps ?? result.operations ?? [];
  const losses = Object.fromEntries((explanation?.losses ?? []).map((loss) => [loss.step ?? loss.name, loss]));
  const steps = run.steps.map(([name, start, done]) => {
    const more = listed.find((one) => one.name === name && (one.done === undefined || one.done === done)) ?? {};
    const own = flat(more.causes).sort((a, b) => b.cycles - a.cycles);
    return { name, start, done, took: done - start, more, causes: own, why: losses[name]?.why ?? "" };
  });

  // ---- what it is
  $("#title").textContent = run.name;
  const machine = result.hardware ?? {}, clock = machine.clock_mhz;
  const memory = result.memory ? (result.memory.preset ?? result.memory.name ?? result.memory.kind) : "";
  $("#summary").textContent = [result.machine ?? machine.preset, memory && `memory ${memory}`, clock && `${clock} MHz`].filter(Boolean).join(", ");
  const verdict = result.verified === true ? "equal to the golden values" : result.verified === false ? "VALUES DIFFER" : "not compared";
  const fact = (name, value, note) => { if (value === undefined || value === null || value === "") return; const box = make("div"); const dd = make("dd", value); if (note) dd.append(" ", make("small", note)); box.append(make("dt", name), dd); $("#facts").append(box); };
  fact("cycles", whole(cycles), clock ? `${short(cycles / clock / 1e3)} ms` : "");
  if (result.frames_per_s) fact("frames per second", short(result.frames_per_s, 4));
  const use = result.utilization;
  if (use !== undefined && use !== null) fact("multipliers in use", percent(use, 1));
  if (result.bound) fact("lower bound", whole(result.bound_cycles), result.bound);
  if (typeof result.energy_uj === "number") fact("energy", `${short(result.energy_uj, 4)} uJ`, `memory ${short(result.memory_uj)} uJ`);
  if (typeof result.power_mw === "number") fact("power", `${short(result.power_mw, 4)} mW`, result.power?.peak_mw ? `peak ${short(result.power.peak_mw)}` : "");
  if (typeof result.area_mm2 === "number") fact("area", `${short(result.area_mm2)} mm2`, result.energy?.technology);
  fact("values", verdict);
  $("#command").textContent = run.command;
  $("#written").textContent = "Every figure of this page is in result.json; dlasim reference explains each key.";

  // ---- the verdict in words
  const share = (part) => percent(part).replace(" %", "\u00a0%");
  const verdicts = [];
  if (causes.length) {
    const works = causes.filter((cause) => cause.group === "array").reduce((sum, cause) => sum + cause.cycles, 0), waits = causes.filter((cause) => cause.group !== "array").slice(0, 2);
    if (works) verdicts.push(`The array works in ${share(works)} of the cycles.`);
    if (waits.length) verdicts.push(`Most of the rest goes to ${waits.map((cause) => `${words(cause.group, cause.name)} (${share(cause.cycles)})`).join(" and ")}.`);
  }
  const least = result.bound_cycles;
  if (least > 0) verdicts.push(`No machine of these sizes takes fewer than ${whole(least)} cycles (${result.bound}); this run takes ${(cycles / least).toFixed(2)} times that.`);
  verdicts.push(result.verified === true ? "Every value was compared and is right." : result.verified === false ? "Values differ from the golden ones: do not trust this run." : "Values were not computed or not compared.");
  if (result.expected?.equal === false) verdicts.push(`${whole(result.expected.differing)} of ${whole(result.expected.compared)} values differ from ${result.expected.file}${result.expected.kind ? `: ${result.expected.kind}` : ""}.`);
  $("#verdict").textContent = verdicts.join(" ");

  // ---- causes
  let chosen = null;
  const choose = (key) => {
    chosen = chosen === key ? null : key;
    for (const button of document.querySelectorAll("[data-cause]")) button.setAttribute("aria-pressed", String(button.dataset.cause === chosen));
    const cause = causes.find((one) => one.key === chosen);
    const entry = cause && (explanation?.causes ?? []).find((one) => one.cause === `${cause.group}: ${cause.name}`);
    const at = $("#advice");
    at.replaceChildren();
    if (cause) {
      at.append(make("b", words(cause.group, cause.name)), `, ${percent(cause.cycles)}: ${entry?.meaning ?? ""}. ${entry?.remedy ?? ""}`);
      const clients = cause.clients && Object.entries(cause.clients).sort((a, b) => b[1] - a[1]).slice(0, 4).map(([client, spent]) => `${client} ${whole(spent)}`).join(", ");
      if (clients) at.append(` By client: ${clients}.`);
      const most = steps.map((step) => [step, step.causes.find((one) => one.key === chosen)?.cycles ?? 0]).filter((pair) => pair[1]).sort((a, b) => b[1] - a[1]);
      if (most.length > 1) {
        at.append(" Most of it in ");
        most.slice(0, 5).forEach(([step, spent], i) => { const link = make("button", step.name); link.type = "button"; link.addEventListener("click", () => show(step)); at.append(i ? ", " : "", link, ` ${whole(spent)}`); });
        at.append(".");
      }
    } else at.textContent = "Choose a cause for its meaning, what helps, and its steps.";
    list();
  };
  if (causes.length === 0) $("#causes").remove();
  for (const cause of causes) {
    const part = make("button");
    part.append(make("span", words(cause.group, cause.name)));
    part.type = "button";
    part.style.cssText = `flex: ${cause.cycles} 1 0; background: ${cause.colour}`;
    part.title = `${words(cause.group, cause.name)}: ${whole(cause.cycles)} cycles, ${percent(cause.cycles)}`;
    part.setAttribute("aria-label", part.title);
    part.dataset.cause = cause.key;
    part.addEventListener("click", () => choose(cause.key));
    $("#cause-bar").append(part);
  }
  // A name that does not fit is not shown.
  const fitBar = () => { for (const part of $("#cause-bar")?.children ?? []) { const name = part.firstChild; name.style.visibility = name.offsetWidth + 6 <= part.clientWidth ? "" : "hidden"; } };
  if (causes.length) new ResizeObserver(fitBar).observe($("#cause-bar"));
  causes.slice(0, 8).forEach((cause) => {
    const swatch = make("span", "", "swatch"), name = make("button", words(cause.group, cause.name));
    swatch.style.background = cause.colour;
    name.type = "button";
    name.dataset.cause = cause.key;
    name.addEventListener("click", () => choose(cause.key));
    $("#cause-list").append(swatch, name, make("span", whole(cause.cycles), "number"), make("span", percent(cause.cycles), "number share"));
  });
  const rest = causes.slice(8).reduce((sum, cause) => sum + cause.cycles, 0);
  if (rest) $("#cause-list").append(make("span"), make("span", `${causes.length - 8} others`), make("span", whole(rest), "number"), make("span", percent(rest), "number share"));

  // ---- lanes: unpacked into runs, and for every phase its cycles up to each run
  const kPhases = ["issuing", "starved", "blocked", "draining"], kGated = 4, kMixed = 7;
  const kPhaseColours = ["#4f9d69", "#e0a030", "#c8553d", "#7a8aa0"];
  const lanes = run.lanes.map(({ name, grain, from, data }) => {
    const bytes = atob(data);
    let read = 0;
    const number = () => { let sum = 0, scale = 1, byte = bytes.charCodeAt(read++); for (; byte >= 128; byte = bytes.charCodeAt(read++), scale *= 128) sum += (byte - 128) * scale; return sum + byte * scale; };
    const skip = (numbers) => { for (; numbers > 0; --numbers) while (bytes.charCodeAt(read++) >= 128); };
    let count = 0;
    for (; read < bytes.length; ++count) if (number() % 8 === kMixed) skip(kPhases.length);
    const ends = new Float64Array(count), phases = new Uint8Array(count), spent = kPhases.map(() => new Float64Array(count + 1)), sums = [0, 0, 0, 0];
    let end = from;
    read = 0;
    for (let at = 0; at < count; ++at) {
      const head = number(), phase = head % 8, grains = (head - phase) / 8;
      ends[at] = end += grains * grain;
      phases[at] = phase;
      if (phase < kPhases.length) sums[phase] += grains * grain;
      if (phase === kMixed) for (let p = 0; p < kPhases.length; ++p) sums[p] += grains * number();
      for (let p = 0; p < kPhases.length; ++p) spent[p][at + 1] = sums[p];
    }
    return { name, grain, from, ends, phases, spent, signal: / (reads|writes) /.test(name) };
  });
  // The first run that ends after a cycle.
  const runAt = (lane, cycle) => { let low = 0, high = lane.ends.length; while (low < high) { const middle = (low + high) >> 1; if (lane.ends[middle] > cycle) high = middle; else low = middle + 1; } return low; };
  // Cycles of a phase before a cycle that is in run `at`: those of a run with several phases are spread evenly over it.
  const spentIn = (lane, phase, cycle, at) => {
    const spent = lane.spent[phase];
    if (at === lane.ends.length || spent[at + 1] === spent[at]) return spent[at];
    const begin = at ? lane.ends[at - 1] : lane.from;
    return spent[at] + (spent[at + 1] - spent[at]) * Math.max(0, cycle - begin) / (lane.ends[at] - begin);
  };
  const spentBefore = (lane, phase, cycle) => spentIn(lane, phase, cycle, runAt(lane, cycle));

  // ---- timeline
  const canvas = $("#time"), kRow = 22, kAxis = 24;
  const laneName = (name) => / (reads|writes) /.test(name) ? name : name.toUpperCase();
  const rows = [{ kind: "steps", name: "steps" }].concat(run.over_time ? [{ kind: "causes", name: "causes" }] : [], lanes.map((lane) => ({ kind: "lane", name: laneName(lane.name), lane })));
  const kFont = "12px system-ui, sans-serif";
  // As wide as the longest name: on a phone the widest ones, those of memory clients, are written smaller.
  const left = () => { const g = canvas.getContext("2d"); g.font = fontOf(); return Math.ceil(Math.max(...rows.map((row) => g.measureText(row.name).width))) + 12; };
  const fontOf = () => narrow() ? "10px system-ui, sans-serif" : kFont;
  let from = 0, to = Math.max(cycles, 1), wanted = false;
  // Upper edge of each phase in a column of `deep` pixels: its share of the cycles, at least a pixel if it occurred.
  const columnOf = (shares, deep, tops) => {
    let sum = 0;
    for (let p = 0; p < tops.length; ++p) sum += tops[p] = shares[p] > 1e-9 ? Math.max(1, Math.round(shares[p] * deep)) : 0;
    for (; sum > deep; --sum) { let most = 0; for (let p = 1; p < tops.length; ++p) if (tops[p] > tops[most]) most = p; --tops[most]; }
    for (let p = 1; p < tops.length; ++p) tops[p] += tops[p - 1];
  };
  // The name shortened to a number of pixels: words are omitted in the middle, because both ends are significant.
  const fitted = (g, name, most) => {
    if (g.measureText(name).width <= most) return name;
    const parts = name.split(/(?<=[ _/.-])/);
    for (let gone = 1; gone < parts.length - 1; ++gone) {
      const short = parts[0] + "\u2026" + parts.slice(1 + gone).join("");
      if (g.measureText(short).width <= most) return short;
    }
    return "";
  };
  const draw = () => {
    wanted = false;
    const width = canvas.clientWidth, height = kAxis + rows.length * kRow + 4, ratio = window.devicePixelRatio || 1, edge = left();
    if (width < 2 * edge) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); canvas.style.height = height + "px"; }
    const g = canvas.getContext("2d"), text = css("--text"), soft = css("--soft"), line = css("--line");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const scale = (width - edge) / (to - from), x = (cycle) => edge + (cycle - from) * scale;
    g.font = kFont;
    g.textBaseline = "middle";
    // axis
    const rough = (to - from) / ((width - edge) / 90), power = 10 ** Math.floor(Math.log10(Math.max(rough, 1))), tick = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((m) => m >= rough) ?? power);
    g.fillStyle = soft; g.strokeStyle = line;
    for (let at = Math.ceil(from / tick) * tick; at <= to; at += tick) { g.fillText(whole(at), x(at) + 3, kAxis / 2); g.beginPath(); g.moveTo(x(at) + 0.5, 4); g.lineTo(x(at) + 0.5, height); g.stroke(); }
    rows.forEach((row, index) => {
      const top = kAxis + index * kRow, tall = kRow - 4;
      g.save();
      g.beginPath(); g.rect(edge, top, width - edge, kRow); g.clip();
      if (row.kind === "steps") {
        steps.forEach((step, i) => {
          if (step.done < from || step.start > to) return;
          const a = Math.max(edge, x(step.start)), b = Math.min(width, x(step.done));
          g.fillStyle = i % 2 ? "#8fb4dd" : "#b9d0ea";
          g.fillRect(a, top, Math.max(b - a - 0.5, 0.5), tall);
          if (b - a > 30) { g.fillStyle = "#10151d"; g.fillText(fitted(g, step.name, b - a - 6), a + 3, top + tall / 2); }
        });
      } else if (row.kind === "causes") {
        const { width: part, names, parts } = run.over_time;
        for (let i = Math.max(0, Math.floor(from / part)); i < parts.length && i * part < to; ++i) {
          const all = parts[i].reduce((sum, n) => sum + n, 0) || 1, a = x(i * part), b = x(Math.min((i + 1) * part, cycles));
          let y = top;
          parts[i].forEach((n, k) => { if (!n) return; const h = tall * n / all; g.fillStyle = colourOf(names[k].join("/")); g.fillRect(a, y, b - a + 0.5, h); y += h; });
        }
      } else {
        // In pixels of the device: columns that are alike become one rectangle.
        const { lane } = row, deep = Math.round(tall * ratio), y = Math.round(top * ratio), right = Math.round(width * ratio);
        g.save();
        g.setTransform(1, 0, 0, 1, 0, 0);
        const many = kPhases.length, before = new Float64Array(many), now = new Float64Array(many), shares = new Float64Array(many), tops = new Int32Array(many), next = new Int32Array(many), drawn = kPhases.map(() => []);
        let at = runAt(lane, from), px = Math.round(edge * ratio), begin = from, since = px;
        for (let p = 0; p < many; ++p) before[p] = spentIn(lane, p, from, at);
        const keep = () => { for (let p = 0, low = 0; p < many; low = tops[p++]) if (tops[p] > low) drawn[p].push(since, y + deep - tops[p], px - since, tops[p] - low); };
        for (; px < right; ++px) {
          const end = Math.min(to, from + ((px + 1) / ratio - edge) / scale);
          while (at < lane.ends.length && lane.ends[at] <= end) ++at;
          let same = true;
          for (let p = 0; p < many; ++p) { now[p] = spentIn(lane, p, end, at); shares[p] = (now[p] - before[p]) / (end - begin); before[p] = now[p]; }
          columnOf(shares, deep, next);
          for (let p = 0; p < many; ++p) same &&= next[p] === tops[p];
          if (!same) { keep(); tops.set(next); since = px; }
          begin = end;
        }
        keep();
        drawn.forEach((boxes, p) => { g.fillStyle = kPhaseColours[p]; for (let i = 0; i < boxes.length; i += 4) g.fillRect(boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]); });
        g.restore();
      }
      g.restore();
      g.fillStyle = text;
      g.font = fontOf();
      g.fillText(row.name, 4, top + tall / 2);
      g.font = kFont;
    });
    frames.push(performance.now());
  };
  const frames = [];
  const redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };
  const view = (a, b) => {
    const least = 20, span = Math.min(Math.max(b - a, least), Math.max(cycles, least));
    from = Math.min(Math.max(0, a), Math.max(cycles, least) - span);
    to = from + span;
    redraw();
  };
  const zoom = (factor, at = (from + to) / 2) => view(at - (at - from) * factor, at + (to - at) * factor);
  const move = (share) => view(from + (to - from) * share, to + (to - from) * share);
  const cycleAt = (clientX) => { const box = canvas.getBoundingClientRect(); return from + (clientX - box.left - left()) / (box.width - left()) * (to - from); };
  const show = (step) => { const margin = step.took * 0.03; view(step.start - margin, step.done + margin); $("#timeline").scrollIntoView({ block: "nearest" }); };
  const actions = { in: () => zoom(0.5), out: () => zoom(2), left: () => move(-0.5), right: () => move(0.5), all: () => view(0, cycles) };
  document.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", () => actions[button.dataset.do]()));
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / 800); else zoom(Math.exp(event.deltaY / 400), cycleAt(event.clientX)); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const action = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" }[event.key];
    if (action) { actions[action](); event.preventDefault(); }
  });
  const fingers = new Map();
  canvas.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event.clientX); canvas.setPointerCapture(event.pointerId); });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (fingers.has(event.pointerId)) {
      const others = [...fingers].filter(([id]) => id !== event.pointerId), old = fingers.get(event.pointerId), here = event.clientX;
      fingers.set(event.pointerId, here);
      if (others.length === 0) { const by = (old - here) / (canvas.clientWidth - left()) * (to - from); view(from + by, to + by); }
      else { const still = others[0][1]; if (Math.abs(here - still) > 8) zoom(Math.abs(old - still) / Math.abs(here - still), cycleAt(still)); }
    }
    readOut(event);
  });
  const readOut = (event) => {
    const cycle = Math.floor(cycleAt(event.clientX)), row = rows[Math.floor((event.clientY - canvas.getBoundingClientRect().top - kAxis) / kRow)];
    if (!row || cycle < 0 || cycle > cycles) return;
    const says = [`cycle ${whole(cycle)}`, row.name];
    if (row.kind === "steps") { const step = steps.find((one) => one.start < cycle && one.done >= cycle); says.push(step ? `${step.name}: ${whole(step.took)} cycles from ${whole(step.start)}` : "nothing"); }
    else if (row.kind === "causes") { const { width: part, names, parts } = run.over_time; const now = parts[Math.floor(cycle / part)]; if (now) says.push(now.map((n, k) => [n, k]).filter((pair) => pair[0]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([n, k]) => `${words(...names[k])} ${whole(n)}`).join(", ") + ` of ${whole(part)} cycles`); }
    else { const { lane } = row, i = runAt(lane, cycle), begin = i ? lane.ends[i - 1] : lane.from; const there = i < lane.ends.length && cycle >= lane.from, phase = there ? lane.phases[i] : kGated, length = lane.ends[i] - begin;
      if (phase === kMixed) says.push(kPhases.map((name, p) => [lane.signal ? "beats" : name, lane.spent[p][i + 1] - lane.spent[p][i]]).filter(([, n]) => n).map(([name, n]) => `${name} ${whole(n)}`).join(", ") + ` of ${whole(length)} cycles`);
      else says.push(lane.signal ? (phase === 0 ? "a beat" : "no beat") : kPhases[phase] ?? "gated", ...(there ? [`${whole(length)} cycles`] : [])); }
    $("#readout").textContent = says.join(", ");
  };
  kPhases.forEach((phase, p) => { const item = make("span"), swatch = make("i", "", "swatch"); swatch.style.background = kPhaseColours[p]; item.append(swatch, ["issuing: it works", "starved: its input is missing", "blocked: its output is not accepted", "draining: its last results are in flight"][p]); $("#phases").append(item); });
  $("#phases").append(make("span", "empty: its clock is gated"));
  $("#go").append(new Option("all", ""), ...steps.map((step, i) => new Option(step.name, i)));
  $("#go").addEventListener("change", () => { const at = $("#go").value; if (at === "") actions.all(); else show(steps[+at]); });

  // ---- charts
  const look = () => ({ axisLine: { lineStyle: { color: css("--soft") } }, axisLabel: { color: css("--soft"), hideOverlap: true, formatter: (v) => short(v) }, splitLine: { lineStyle: { color: css("--line") } }, nameTextStyle: { color: css("--text") } });
  const base = () => ({ animation: false, textStyle: { color: css("--text"), fontFamily: "system-ui, sans-serif" }, tooltip: { confine: true, backgroundColor: css("--back"), borderColor: css("--line"), textStyle: { color: css("--text") } } });
  const escaped = (s) => String(s).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const peak = machine.mac ? machine.mac.atomic_c * machine.mac.atomic_k : 0, beat = machine.memory?.primary?.width_bytes ?? 0;
  const spots = (listed.length ? steps : [{ name: run.name, took: cycles, more: { macs: result.macs, cycles, traffic: result.plan?.traffic ?? result.traffic, bound: result.bound, bound_cycles: result.bound_cycles } }])
    .map((step) => ({ step, macs: step.more.macs, moved: step.more.traffic?.moved, took: step.more.share || step.more.cycles || step.took }))
    .filter((spot) => spot.macs > 0 && spot.moved > 0 && spot.took > 0);
  const roofline = () => {
    const xs = spots.map((spot) => spot.macs / spot.moved), low = Math.min(...xs, peak / beat) / 3, high = Math.max(...xs, peak / beat) * 3;
    const roof = (bytes) => [low, peak / bytes, high].map((at) => [at, Math.min(peak, at * bytes)]), both = beat + (machine.memory.has_secondary ? machine.memory.secondary.width_bytes : 0);
    return { ...base(), grid: { left: 58, right: 18, top: 16, bottom: 48 },
      xAxis: { type: "log", name: "multiplications per byte moved", nameLocation: "middle", nameGap: 28, min: low, max: high, ...look() },
      yAxis: { type: "log", name: "multiplications per cycle", nameLocation: "middle", nameGap: 42, ...look() },
      tooltip: { ...base().tooltip, formatter: (p) => p.data.spot ? `<b>${escaped(p.data.spot.step.name)}</b><br>${short(p.data.value[1], 4)} a cycle of ${peak}<br>${short(p.data.value[0])} per byte<br>${whole(p.data.spot.took)} cycles, bound ${escaped(p.data.spot.step.more.bound ?? "")}` : "peak of this machine" },
      series: [{ type: "line", symbol: "none", lineStyle: { color: css("--bad"), width: 2 }, data: roof(beat) }, { type: "line", symbol: "none", lineStyle: { color: css("--bad"), width: 1.5, type: "dashed" }, data: both > beat ? roof(both) : [] },
        { type: "scatter", symbolSize: (v, p) => 6 + 22 * Math.sqrt(p.data.spot.took / cycles), itemStyle: { color: css("--accent"), opacity: 0.75 }, data: spots.map((spot) => ({ value: [spot.macs / spot.moved, spot.macs / spot.took], spot })) }] };
  };
  const kParts = 160;
  const parts = run.parts, seriesOf = (group) => (parts?.series ?? []).filter((one) => one.group === group);
  const lengths = parts ? parts.ends.map((end, i) => end - (i ? parts.ends[i - 1] : 0)) : [];
  // Lines over the run; `stack`: stacked. A value is that of its part of the run.
  const overTime = (list, { unit, max, stack, marks = [], digits = 3 }) => ({ ...base(), grid: { left: 58, right: 18, top: 34, bottom: 48 },
    tooltip: { ...base().tooltip, trigger: "axis", valueFormatter: (v) => v === null || v === undefined ? "" : `${short(v, digits)} ${unit}` },
    xAxis: { type: "value", min: 0, max: cycles, name: "cycle", nameLocation: "middle", nameGap: 28, ...look() }, yAxis: { type: "value", max, name: unit, nameLocation: "end", ...look() },
    series: list.map(({ name, points }, i) => {
      const colour = colourOfName(name), below = (k) => stack ? list.slice(0, i).reduce((sum, one) => sum + one.points[k][1], 0) : 0;
      const data = points.map(([at, own], k) => [at, below(k) + own, own]);
      return { name, type: "line", symbol: "none", step: "start", encode: { x: 0, y: 1, tooltip: 2 }, z: 3 + list.length - i, areaStyle: stack ? { color: colour, opacity: 1 } : undefined, lineStyle: { width: stack ? 0 : 1.6, color: colour }, itemStyle: { color: colour }, data: [[0, data[0][1], data[0][2]], ...data] };
    }).concat(marks.map((mark) => ({ name: mark.name, type: "line", symbol: "none", z: 99, lineStyle: { color: css("--bad"), width: 1.5, type: "dashed" }, itemStyle: { color: css("--bad") }, data: [[0, mark.at], [cycles, mark.at]] }))) });
  const points = (one, of = (v) => v) => one.values.map((v, i) => [parts.ends[i], of(v, lengths[i])]);
  const works = () => lanes.filter((lane) => ["cmac_a", "sdp", "pdp", "cdp"].includes(lane.name)).map((lane) => ({ name: lane.name.toUpperCase().replace("_A", ""),
    points: Array.from({ length: kParts }, (_, k) => { const from = k * cycles / kParts, to = (k + 1) * cycles / kParts; return [to, 100 * (spentBefore(lane, 0, to + 1) - spentBefore(lane, 0, from + 1)) / (to - from)]; }) }));
  const entries = machine.cbuf ? machine.cbuf.banks * machine.cbuf.bank_depth : 0;
  const buffer = () => seriesOf("level").filter((one) => one.unit === "entries").map((one) => ({ name: one.name, points: points(one, (v) => 100 * v / (entries || 1)) }));
  const credits = () => seriesOf("level").filter((one) => one.unit === "credits").map((one) => ({ name: one.name, points: points(one) }));
  const moved = () => { const all = seriesOf("bytes").map((one) => ({ name: one.name, sum: one.values.reduce((a, b) => a + b, 0), points: points(one, (v, n) => v / n) })).sort((a, b) => b.sum - a.sum); return all; };
  const hits = () => { const rows = seriesOf("rows"), all = parts ? parts.ends.map((_, i) => rows.reduce((sum, one) => sum + one.values[i], 0)) : []; return rows.map((one) => ({ name: one.name, points: one.values.map((v, i) => [parts.ends[i], all[i] ? 100 * v / all[i] : 0]) })); };
  const overlap = () => seriesOf("overlap").map((one) => ({ name: one.name, points: points(one, (v, n) => 100 * v / n) }));
  const power = () => seriesOf("power").map((one) => ({ name: one.name, points: points(one) }));
  const clocks = () => {
    const list = seriesOf("clock"), names = list.map((one) => one.name.toUpperCase()).reverse();
    return { ...base(), grid: { left: 74, right: 18, top: 8, bottom: 62 }, tooltip: { ...base().tooltip, formatter: (p) => `${names[p.data[1]]}, cycle ${whole(p.data[0] ? parts.ends[p.data[0] - 1] : 0)} to ${whole(parts.ends[p.data[0]])}: clock on in ${p.data[2].toFixed(0)} %` },
      xAxis: { type: "category", data: parts.ends.map((end) => short(end)), name: "cycle", nameLocation: "middle", nameGap: 26, ...look(), axisLabel: { color: css("--soft"), hideOverlap: true } }, yAxis: { type: "category", data: names, axisLabel: { color: css("--soft") } },
      visualMap: { min: 0, max: 100, show: false, inRange: { color: [css("--back"), "#4f9d69"] } },
      series: [{ type: "heatmap", progressive: 0, data: list.flatMap((one, y) => one.values.map((v, x) => [x, list.length - 1 - y, Math.min(100, 100 * v / lengths[x])])) }] };
  };
  // A name has the same colour on every page: a unit that of its causes, what a client writes a lighter one than what it reads.
  const kClients = { CDMA_DAT: "#e0a030", CDMA_WT: "#4f9d69", SDP: kGroups.sdp, SDP_BS: "#3f51b5", SDP_BN: "#c2569b", SDP_EW: "#2f7f86", PDP: kGroups.pdp, CDP: kGroups.cdp, BDMA: kGroups.bdma, RBK: "#6d8b3a" };
  const kNames = { CMAC: kGroups.array, SDP: kGroups.sdp, PDP: kGroups.pdp, CDP: kGroups.cdp, "CBUF data": kClients.CDMA_DAT, "CBUF weights": kClients.CDMA_WT, hits: "#4f9d69", misses: "#e0a030", conflicts: "#c8553d",
    "SDP alone": kGroups.sdp, "PDP alone": kGroups.pdp, "both at once": "#c8553d", accelerator: "#4f9d69", memory: kGroups.memory };
  const colourOfName = (name) => { const [client, way] = name.split(" "); return kNames[name] ?? (kClients[client] ? lighter(kClients[client], way === "writes" ? 0.6 : 1) : "#3f8fc9"); };
  // A chart is drawn when it comes into sight, or is printed.
  const charted = [], waiting = new Map();
  const begin = (place) => {
    const ready = waiting.get(place);
    if (!ready) return;
    waiting.delete(place);
    const drawn = charts.init(place, null, { renderer: "canvas" });
    if (ready.click) drawn.on("click", ready.click);
    drawn.setOption(ready.option());
    charted.push({ drawn, option: ready.option });
    new ResizeObserver(() => drawn.resize()).observe(place);
  };
  const inSight = new IntersectionObserver((seen) => { for (const one of seen) if (one.isIntersecting) begin(one.target); }, { rootMargin: "300px" });
  const chart = (id, option, click) => { const place = $(`#${id} .chart`); waiting.set(place, { option, click }); inSight.observe(place); };
  // The values of a chart, made when somebody wants them.
  const asTable = (id, head, lines) => {
    const box = make("details"), scroll = make("div", undefined, "scroll"), place = make("table");
    place.append(make("thead"), make("tbody"));
    scroll.append(place);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", `values of ${$(`#${id} h2`).textContent}`);
    box.append(make("summary", "as a table"), scroll);
    box.addEventListener("toggle", () => { if (box.open && !$("tr", place)) table(scroll, head, lines()); });
    $(`#${id}`).append(box);
  };
  const chartOver = (id, list, options) => {
    if (!list().length) { $(`#${id}`).remove(); return; }
    const legend = make("div", undefined, "legend");
    list().forEach(({ name }) => { const item = make("span"), swatch = make("i", "", "swatch"); swatch.style.background = colourOfName(name); item.append(swatch, name); legend.append(item); });
    for (const mark of options.marks ?? []) legend.append(make("span", `dashed: ${mark.name}`));
    $(`#${id} .chart`).before(legend);
    chart(id, () => overTime(list(), options));
    asTable(id, [`up to cycle, ${options.unit}`, ...list().map(({ name }) => name)], () => list()[0].points.map(([at], k) => [whole(at), ...list().map((one) => short(one.points[k][1]))]));
  };
  if (spots.length && peak && beat) chart("roofline", roofline, (p) => p.data?.spot && steps.includes(p.data.spot.step) && show(p.data.spot.step));
  else $("#roofline").remove();
  if ($("#roofline")) asTable("roofline", ["step", "multiplications per byte", "multiplications per cycle", "cycles"], () => spots.map((spot) => [spot.step.name, short(spot.macs / spot.moved), short(spot.macs / spot.took, 4), whole(spot.took)]));
  const second = machine.memory?.has_secondary ? machine.memory.secondary.width_bytes : 0;
  chartOver("rates", works, { unit: "% of the cycles", max: 100 });
  chartOver("bytes", moved, { unit: "bytes a cycle", stack: true, marks: beat ? [{ name: `width of DBB, ${beat}`, at: beat }] : [] });
  chartOver("buffer", buffer, { unit: "% of CBUF", max: 100, stack: true });
  chartOver("credits", credits, { unit: "credits" });
  chartOver("rows", hits, { unit: "% of the requests", max: 100, stack: true });
  chartOver("overlap", overlap, { unit: "% of the cycles", stack: true });
  chartOver("power", power, { unit: "mW" });
  if (seriesOf("clock").length) {
    chart("clocks", clocks);
    asTable("clocks", ["up to cycle, % on", ...seriesOf("clock").map((one) => one.name.toUpperCase())], () => parts.ends.map((end, i) => [whole(end), ...seriesOf("clock").map((one) => Math.min(100, 100 * one.values[i] / lengths[i]).toFixed(0))]));
  }
  else $("#clocks").remove();

  // ---- the machine
  const box = (x, y, name, unit, note) => {
    const of = result.units?.[unit], share = of ? of.issuing / cycles : null;
    const level = share === null ? "" : `<rect x="${x}" y="${y + 50}" width="${(104 * share).toFixed(1)}" height="6" fill="#4f9d69"/>`;
    return `<rect x="${x}" y="${y}" width="104" height="56" rx="6" fill="var(--back)" stroke="var(--soft)"/>${level}<text x="${x + 52}" y="${y + 20}" text-anchor="middle">${name}${share === null ? "" : ` ${(100 * share).toFixed(0)} %`}</text><text class="soft" x="${x + 52}" y="${y + 38}" text-anchor="middle">${escaped(note ?? "")}</text>`;
  };
  const way = (x1, y1, x2, y2, note, above = -6) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="var(--soft)" stroke-width="1.5" marker-end="url(#tip)"/>` + (note ? `<text class="soft" x="${(x1 + x2) / 2}" y="${(y1 + y2) / 2 + above}" text-anchor="middle">${escaped(note)}</text>` : "");
  if (machine.mac) {
    const bytes = (n) => n === undefined ? "" : n >= 1e6 ? `${short(n / 1e6)} MB` : n >= 1e3 ? `${short(n / 1e3)} kB` : `${n} B`, t = result.traffic ?? {};
    const sum = (list, names) => names.reduce((all, name) => all + (list?.[name] ?? 0), 0), both = (names, way) => sum(t.dbb?.[way], names) + sum(t.cvsram?.[way], names);
    const has = (unit) => result.units?.[unit];
    const mean = (name) => { const one = seriesOf("level").find((s) => s.name === name); return one ? one.values.reduce((sum, v, i) => sum + v * lengths[i], 0) / cycles : 0; };
    const filled = entries ? (mean("CBUF data") + mean("CBUF weights")) / entries : 0, pace = (n) => n ? `, ${short(n / cycles)} B a cycle` : "";
    const note = (x, y, text, where = "middle") => `<text class="soft" x="${x}" y="${y}" text-anchor="${where}">${escaped(text)}</text>`;
    const ways = (port) => [`reads ${bytes(t[port]?.read_bytes)}${pace(t[port]?.read_bytes)}`, `writes ${bytes(t[port]?.write_bytes)}${pace(t[port]?.write_bytes)}`];
    const size = entries * machine.cbuf.entry_bytes;
    $("#machine .soft + div").innerHTML = `<svg viewBox="0 0 880 330" role="img" aria-label="blocks of the machine"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="var(--soft)"/></marker></defs>` +
      box(10, 20, "DBB", "", memory) + box(160, 20, "MCIF", "mcif", `${beat} bytes wide`) + way(114, 48, 160, 48) + way(212, 76, 212, 130) + ways("dbb").map((text, i) => note(10, 94 + 16 * i, text, "start")).join("") +
      (second ? box(10, 250, "CVSRAM", "", bytes(machine.memory.secondary?.bytes)) + box(160, 250, "CVIF", "cvif", `${machine.memory.secondary?.width_bytes} bytes wide`) + way(114, 278, 160, 278) + way(212, 250, 212, 186) + ways("cvsram").map((text, i) => note(10, 222 + 16 * i, text, "start")).join("") : "") +
      box(160, 130, "CDMA", "cdma", "fetches") + note(228, 94, `data ${bytes(both(["CDMA_DAT"], "read_bytes_by_client"))}`, "start") + note(228, 110, `weights ${bytes(both(["CDMA_WT"], "read_bytes_by_client"))}`, "start") +
      way(264, 158, 300, 158) + box(300, 130, "CBUF", "cbuf", bytes(size)) + `<rect x="300" y="180" width="${(104 * Math.min(1, filled)).toFixed(1)}" height="6" fill="#3f8fc9"/>` + note(352, 202, `${machine.cbuf.banks} banks, ${machine.cbuf.entry_bytes} bytes wide`) + note(352, 217, parts ? `${percent(filled, 1)} full on average` : "") + way(404, 158, 440, 158, `${machine.cbuf.entry_bytes} B`) + box(440, 130, "CSC", "csc", "sequences") + way(544, 158, 580, 158, `${machine.mac.atomic_c} B`) +
      box(580, 130, "CMAC", "cmac_a", `${machine.mac.atomic_c} x ${machine.mac.atomic_k}`) + way(684, 158, 720, 158) + box(720, 130, "CACC", "cacc", "sums up") + way(772, 186, 772, 240) + box(720, 240, "SDP", "sdp", `${machine.sdp?.bs_throughput ?? "?"} a cycle`) +
      way(720, 268, 684, 268) + box(580, 240, "PDP", "pdp", `${machine.pdp?.throughput ?? "?"} a cycle`) + (has("cdp") ? box(440, 240, "CDP", "cdp", `${machine.cdp?.throughput ?? "?"} a cycle`) : "") +
      note(720, 318, `SDP writes ${bytes(both(["SDP"], "write_bytes_by_client"))}, reads ${bytes(both(["SDP", "SDP_BS", "SDP_BN", "SDP_EW"], "read_bytes_by_client"))}; PDP writes ${bytes(both(["PDP"], "write_bytes_by_client"))}`) + "</svg>";
  } else $("#machine").remove();

  // ---- tables
  const table = (place, head, lines) => {
    const top = $("thead", place), body = $("tbody", place);
    top.replaceChildren(make("tr"));
    head.forEach((name, i) => top.firstChild.append(make("th", name, i ? "" : "words")));
    body.replaceChildren(...lines.map((cells) => { const line = make("tr"); cells.forEach((cell, i) => { const at = make("td", cell instanceof Node ? undefined : cell, i ? "" : "words"); if (cell instanceof Node) at.append(cell); line.append(at); }); return line; }));
  };
  const bars = (unit) => { const bar = make("span", undefined, "bars"); bar.setAttribute("role", "img"); bar.setAttribute("aria-label", kPhases.map((phase) => `${phase} ${percent(unit[phase])}`).join(", ")); kPhases.forEach((phase, p) => { const part = make("i"); part.style.cssText = `width: ${100 * unit[phase] / cycles}%; background: ${kPhaseColours[p]}`; bar.append(part); }); bar.title = bar.getAttribute("aria-label"); return bar; };
  const units = Object.entries(result.units ?? {}).filter(([, unit]) => typeof unit.issuing === "number" && unit.gated < cycles);
  if (units.length) table($("#units"), ["unit", "phases", "works", "starved", "blocked", "clock gated", "uJ"], units.map(([name, unit]) => [name.toUpperCase(), bars(unit), percent(unit.issuing), percent(unit.starved), percent(unit.blocked), percent(unit.gated), short(result.energy?.units?.[name]?.energy_uj)]));
  else $("#units").remove();
  const traffic = [["dbb", "DBB"], ["cvsram", "CVSRAM"]].flatMap(([port, name]) => [["read_bytes_by_client", "reads"], ["write_bytes_by_client", "writes"]].flatMap(([key, way]) => Object.entries(result.traffic?.[port]?.[key] ?? {}).map(([client, bytes]) => [`${client} ${way} ${name}`, bytes])));
  const all = traffic.reduce((sum, row) => sum + row[1], 0);
  if (traffic.length) table($("#traffic"), ["client", "bytes", "share", "bytes a cycle"], traffic.sort((a, b) => b[1] - a[1]).map(([name, bytes]) => [name, whole(bytes), percent(bytes, all), (bytes / cycles).toFixed(2)]));
  else $("#traffic").remove();
  const accurate = (result.tensors ?? []).filter((one) => one.cosine !== undefined), exact = Math.max(1, ...accurate.map((one) => one.own_signal_to_noise ?? 0));
  const decibels = (ratio) => ratio === null ? "exact" : `${ratio.toFixed(1)} dB`;
  const level = (one) => { const bar = make("span", undefined, "bars"), part = make("i"); bar.setAttribute("role", "img"); bar.setAttribute("aria-label", decibels(one.own_signal_to_noise)); part.style.cssText = `width: ${100 * Math.max(0, one.own_signal_to_noise ?? exact) / exact}%; background: ${one.name === result.worst_step?.name ? "var(--bad)" : "var(--accent)"}`; bar.append(part); return bar; };
  if (accurate.length) {
    table($("#accuracy"), ["tensor", "", "by itself", "in all", "cosine", "saturated"], accurate.map((one) => [one.name, level(one), decibels(one.own_signal_to_noise), decibels(one.signal_to_noise), one.cosine.toFixed(6), percent(one.saturated, 1)]));
    $("#worst").textContent = result.worst_step ? `Most is lost in ${result.worst_step.name}: ${result.worst_step.why}. What helps: ${result.worst_step.helps}.` : "";
  } else $("#accuracy").remove();
  const wrong = (result.expected?.by_channel ?? []).map((n, channel) => [channel, n]).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  if (wrong.length) table($("#wrong"), ["channel", "values that differ", "share"], wrong.slice(0, 300).map(([channel, n]) => [String(channel), whole(n), percent(n, result.expected.differing)]));
  else $("#wrong").remove();

  // ---- what a search for a better program tried
  const search = result.search;
  if (search) {
    const change = (a, b) => a ? `${b > a ? "+" : ""}${(100 * (b / a - 1)).toFixed(1)} %` : "", amount = (n) => Number.isInteger(n) ? whole(n) : short(n, 6);
    $("#search p").textContent = `${search.tries + search.known} programs were compared. ` + (search.all ? "No other decision of a step, or of two neighbours, is better." : "Time was over before all were tried.") + (search.missed ? ` Missed: ${search.missed}.` : "");
    const figures = { dbb_bytes: "bytes over DBB", cvsram_bytes: "bytes over CVSRAM", total_uj: "energy, uJ" };
    table($("#search .figures"), ["figure", "before", "after", "change"], search.figures.filter((one) => one.before || one.after).map((one) => [figures[one.name] ?? one.name, amount(one.before), amount(one.after), change(one.before, one.after)]));
    if (search.kept.length) table($("#search .kept"), ["step", "decision", `gained, ${search.best}`], search.kept.map((one) => [one.step, `${one.decision}: ${one.was} to ${one.is}`, amount(one.gained)]));
    else for (const gone of document.querySelectorAll("#search h3:first-of-type, #search .kept")) gone.remove();
    const most = Math.max(1, ...search.steps.map((one) => Math.max(one.after, one.before ?? 0)));
    const pair = (one) => {
      const box = make("span", undefined, "pair"), least = make("b");
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", `before ${one.before === null ? "no such step" : whole(one.before)}, after ${whole(one.after)}, bound ${whole(one.bound_cycles)}`);
      [one.before ?? 0, one.after].forEach((spent) => { const part = make("i"); part.style.width = `${100 * spent / most}%`; box.append(part); });
      least.style.left = `${100 * one.bound_cycles / most}%`;
      box.append(least);
      return box;
    };
    table($("#search .steps"), ["step", "", "before", "after", "of bound", "why no other plan was taken"], search.steps.map((one) => [one.name, pair(one), one.before === null ? "" : whole(one.before), whole(one.after), `${(1 + one.above_bound).toFixed(2)} x ${one.bound}`, one.why]));
    for (const line of document.querySelectorAll("#search .steps tr, #search .kept tr")) line.cells[line.cells.length - 1 - (line.cells.length === 3)].className = "words why";
  } else $("#search").remove();

  const kinds = (of, tensors) => Object.entries(tensors ?? {}).filter(([, one]) => one.moved > 0).map(([name, one]) => [of ? `${of}: ${name}` : name, one.bytes, one.moved, one.times]);
  const tensors = [...kinds("", result.plan?.tensors), ...steps.flatMap((step) => kinds(step.name, step.more.tensors))].sort((a, b) => b[2] - a[2]), allMoved = tensors.reduce((sum, one) => sum + one[2], 0);
  if (tensors.length) table($("#tensors"), ["tensor", "bytes", "moved", "times", "share"], tensors.slice(0, 300).map(([name, bytes, n, times]) => [name, whole(bytes), whole(n), (times ?? n / bytes).toFixed(2), percent(n, allMoved)]));
  else $("#tensors").remove();

  // ---- how exact: the nearest programs that were measured on the RTL
  const near = result.nearest ?? [];
  $("#measured").innerHTML = run.badge;
  const likewise = near.filter((one) => one.same_machine && !one.other_modes).length;
  $("#exact p").textContent = run.measured +
    (near.length ? ` Of ${near.length} kinds of operation of this run, ${likewise} were measured on it. Of each kind the operation that is farthest from all measured ones, and the nearest program:` : "");
  if (near.length) table($("#exact"), ["operations of this run", "number", "nearest measured program", "machine", "its modes, where they differ", "sizes within", "equal to the RTL"], near.map((one) => [one.modes, whole(one.operations), one.program, one.machine, one.other_modes ?? "", `${short(one.size_ratio)} x`, one.differing ? `no: ${one.differing} signals differ` : `all ${whole(one.events)} events`]));
  else $("#exact .scroll").remove();

  let order = ["start", 1];
  const columns = [["step", (s) => s.name], ["start", (s) => s.start], ["cycles", (s) => s.took], ["adds", (s) => s.more.share], ["of the run", (s) => s.more.share, (v) => percent(v)], ["in use", (s) => s.more.utilization, (v) => percent(v, 1)], ["bound", (s) => s.more.bound_cycles], ["lost", (s) => s.more.bound && s.more.share !== undefined ? s.more.share - s.more.bound_cycles : undefined], ["largest cause", (s) => s.causes[0] && words(s.causes[0].group, s.causes[0].name)], ["uJ", (s) => s.more.energy_uj, (v) => short(v)], ["mW", (s) => s.more.power_mw, (v) => short(v)], ["why", (s) => s.why]]
    .filter(([, of]) => steps.some((step) => ![undefined, null, ""].includes(of(step))));
  let list = () => {
    const asked = $("#filter").value.toLowerCase();
    const found = steps.filter((step) => (!asked || [step.name, step.more.unit, step.more.mode, step.why, step.causes[0] && words(step.causes[0].group, step.causes[0].name)].some((text) => String(text ?? "").toLowerCase().includes(asked))) && (!chosen || !step.causes.length || step.causes.some((one) => one.key === chosen)));
    const by = columns.find(([name]) => name === order[0])?.[1] ?? columns[0][1];
    if (chosen) found.sort((a, b) => (b.causes.find((one) => one.key === chosen)?.cycles ?? 0) - (a.causes.find((one) => one.key === chosen)?.cycles ?? 0));
    else found.sort((a, b) => { const u = by(a), v = by(b); return order[1] * (typeof u === "number" && typeof v === "number" ? u - v : String(u ?? "").localeCompare(String(v ?? ""))); });
    $("#count").textContent = `${found.length} of ${steps.length}` + (chosen ? `, by cycles of ${words(...chosen.split("/"))}` : "");
    const head = $("#steps thead"), body = $("#steps tbody");
    head.replaceChildren(make("tr"));
    for (const [name] of columns) {
      const cell = make("th", undefined, ["step", "largest cause", "why"].includes(name) ? "words" : ""), button = make("button", name + (order[0] === name && !chosen ? (order[1] > 0 ? " ▲" : " ▼") : ""));
      button.type = "button";
      button.addEventListener("click", () => { order = [name, order[0] === name ? -order[1] : name === "step" || name === "start" ? 1 : -1]; list(); });
      cell.append(button);
      head.firstChild.append(cell);
    }
    body.replaceChildren(...found.slice(0, 2000).map((step) => {
      const line = make("tr");
      for (const [name, of, form] of columns) {
        const value = of(step), cell = make("td", name === "step" ? undefined : value === undefined || value === null ? "" : form ? form(value) : typeof value === "number" ? whole(value) : value, name === "why" ? "why" : ["step", "largest cause"].includes(name) ? "words" : "");
        if (name === "step") { const button = make("button", step.name); button.type = "button"; button.title = "show it in the timeline"; button.addEventListener("click", () => show(step)); cell.append(button); }
        line.append(cell);
      }
      return line;
    }));
  };
  $("#filter").addEventListener("input", () => list());
  if (steps.length > 1) list();
  else {
    $("#steps").remove();
    list = () => {};
  }

  // ---- theme
  const system = window.matchMedia("(prefers-color-scheme: dark)"), asked = new URLSearchParams(location.search).get("theme");
  let dark = asked ? asked === "dark" : system.matches;
  const paint = () => { for (const { drawn, option } of charted) drawn.setOption(option(), { notMerge: true }); };
  const theme = (now) => { dark = now; document.documentElement.dataset.theme = dark ? "dark" : "light"; redraw(); setTimeout(paint); };
  $("#theme").addEventListener("click", () => theme(!dark));
  system.addEventListener("change", (event) => theme(event.matches));
  theme(dark);
  // On paper all is light, as wide as a sheet, and drawn.
  let shown = dark;
  window.addEventListener("beforeprint", () => {
    shown = dark;
    document.documentElement.dataset.paper = "yes";
    theme(false);
    for (const place of [...waiting.keys()]) begin(place);
    for (const { drawn } of charted) drawn.resize();
    paint();
    draw();
    fitBar();
  });
  window.addEventListener("afterprint", () => { delete document.documentElement.dataset.paper; theme(shown); });
  new ResizeObserver(redraw).observe(canvas);
  window.page = { run, lanes, steps, causes, charted, begin: () => { for (const place of [...waiting.keys()]) begin(place); }, view, zoom, spentBefore, runAt, frames, draw, rows, left, kAxis, kRow, kPhaseColours, colourOf, colourOfName, choose, range: () => [from, to] };  // for tests
  document.documentElement.dataset.ready = "yes";
})();
