// Process maps in pages: Graphviz lays out what the sliders choose, and this file draws it. The model is JSON of
// plots/map_graph.py. Names are text: nothing of a model is parsed as HTML or DOT, and no style is set by a string of HTML.
//
// An element of class travas-map that contains a script of type application/json becomes a map when the page is loaded, or
// when HTMX brings it. mountMap(element, model, options) does the same by hand.

const SMALLEST = 11.05, LABEL = 13, LINE = 16, NAME_LINE = 17, CLOSEST = 4, NARROW = 640;
const SAME = 0.1;  // of a comparison: more than that is a change
const TOKENS = 12;

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const draw = (name, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  element.append(...children);
  return element;
};
const share = (element, value) => { element.style.setProperty("--share", value.toFixed(3)); return element; };
const count = (value) => Math.round(value).toLocaleString("en");
const percent = (value) => `${Math.round(100 * value)} %`;

// ------------------------------------------------------------------------------------------------------ Graphviz

let worker = null, sent = 0;
const waiting = new Map();

function startWorker() {
  const source = document.getElementById("travas-graphviz");
  const address = source
    ? URL.createObjectURL(new Blob([source.textContent], { type: "text/javascript" }))
    : new URL("map_worker.js", import.meta.url);
  worker = new Worker(address, { type: source ? "classic" : "module" });  // of a file, modules are refused
  worker.onmessage = ({ data: { number, layout, error } }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (layout) resolve(layout); else reject(new Error(error));
  };
  worker.onerror = (event) => {
    waiting.forEach(({ reject }) => reject(new Error(`Graphviz did not start: ${event.message ?? "the browser refused it"}`)));
    waiting.clear();
    worker = null;
  };
}

function lay(dot) {
  if (worker === null) startWorker();
  return new Promise((resolve, reject) => {
    waiting.set(++sent, { resolve, reject });
    worker.postMessage({ number: sent, dot });
  });
}

// ------------------------------------------------------------------------------------------------- what is shown

// The activities of the first steps, the paths that connect them, and the most frequent others (ProcessGraph.part).
export function chosen(model, step, number) {
  const shown = new Set(model.activities.filter((one) => one.step <= step).map((one) => one.key));
  const possible = model.paths.filter((path) => shown.has(path.before) && shown.has(path.after));
  const kept = new Set(possible.filter((path) => path.step !== null && path.step <= step));
  for (const path of possible) {
    if (kept.size >= number) break;
    kept.add(path);
  }
  return {
    activities: model.activities.filter((one) => shown.has(one.key)),
    paths: possible.filter((path) => kept.has(path)),
  };
}

function dotOf(model, part, mode) {
  const paths = part.paths.map((one) => one.dot.replace("SLOT", one.slots[mode]));
  return `${model.header}${[...part.activities.map((one) => one.dot), ...paths].join(" ")} }`;
}

// Where Graphviz has placed everything, from the top.
function placed(found, part) {
  const [left, bottom, right, top] = found.bb.split(",").map(Number);
  const point = (text) => { const [x, y] = text.split(",").map(Number); return [x - left, top - y]; };
  const names = new Map(found.objects.map((one) => [one._gvid, one.name]));
  const at = new Map(found.objects.filter((one) => one.pos).map((one) => [one.name, point(one.pos)]));
  const ways = new Map((found.edges ?? []).map((one) => [
    `${names.get(one.tail)} ${names.get(one.head)}`, { points: one.pos.split(" ").map(point), label: point(one.lp) },
  ]));
  return { at, way: (path) => ways.get(`${path.before} ${path.after}`), width: right - left, height: top - bottom, part };
}

// ------------------------------------------------------------------------------------------------------- drawing

// Numbers of paths and activities from hair to rope, and from pale to full, on a log scale between the least and the most.
function scales(model, key) {
  const log = (value) => Math.log1p(Math.max(value ?? 0, 0));
  const range = (values, power) => {
    const logs = values.map(log), low = Math.min(...logs), high = Math.max(...logs);
    return (value) => (high > low ? Math.min(1, Math.max(0, (log(value) - low) / (high - low))) ** power : 1);
  };
  const counts = (list) => list.flatMap((one) => [one.count, one.original ?? 0]).filter((value) => value > 0);
  const rope = range(counts(model.paths), 2.5), shade = range(counts(model.activities.filter((one) => one.kind === "activity")), 1.6);
  return {
    value: (one) => one[key] ?? 0,
    rope: (one) => rope(one[key] ?? 0),
    shade: (one) => shade(one[key] ?? 0),
    time: range(timeEnds(model).map((one) => one.scale), 1),
  };
}

// The shortest and the longest median time of all but 2 % of the steps, on a scale of at least a factor 16.
function timeEnds(model) {
  const timed = model.paths.filter((one) => one.time).sort((a, b) => a.time.seconds - b.time.seconds);
  const all = timed.reduce((sum, one) => sum + one.count, 0), mass = timed.map(((sum) => (one) => (sum += one.count))(0));
  const ends = [0.01, 0.99].map((part) => timed[Math.max(0, mass.findIndex((value) => value >= part * all))]).filter(Boolean);
  const wider = ends.length ? Math.max(1, 16 / ((1 + ends[1].time.seconds) / (1 + ends[0].time.seconds))) ** 0.5 : 1;
  return ends.map(({ time }, index) => ({ text: time.median, scale: index ? time.seconds * wider : time.seconds / wider }));
}

const text = (words, x, y, name) => draw("text", { x: x.toFixed(1), y: y.toFixed(1), class: name }, words);

// A line that ends where its head begins, so that thick ropes have pointed ends.
function arrow({ points }, width) {
  const list = points.map((one) => [...one]), [x, y] = list.at(-1);
  let back = list.length - 2;
  while (back > 0 && Math.hypot(x - list[back][0], y - list[back][1]) < 0.5) back -= 1;
  const length = Math.hypot(x - list[back][0], y - list[back][1]) || 1;
  const [dx, dy] = [(x - list[back][0]) / length, (y - list[back][1]) / length], size = 6 + 1.1 * width, half = 2.6 + 0.75 * width;
  for (const one of list.slice(-2)) { one[0] -= dx * size * 0.9; one[1] -= dy * size * 0.9; }
  const say = ([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`;
  const corners = [[x, y], [x - dx * size - dy * half, y - dy * size + dx * half], [x - dx * size + dy * half, y - dy * size - dx * half]];
  return { line: `M${say(list[0])}C${list.slice(1).map(say).join(" ")}`, head: `M${corners.map(say).join("L")}Z` };
}

function change(one) {
  if (typeof one.original !== "number") return "";
  if (Math.abs(one.count - one.original) <= SAME * one.original) return " kept";
  return one.count < one.original ? " lost" : " inflated";
}

function drawPath(path, where, scale, state) {
  const rope = scale.rope(path), width = 1 + (path.before === path.after ? 4 : 8) * rope, { line, head } = arrow(where, width);
  const isTimed = state.time && path.time, [x, y] = where.label, slot = path.slots[state.time ? 1 : 0];
  const label = state.side ? count(scale.value(path)) : path.labels[state.time ? 1 : 0];
  const group = draw("g", { "data-path": `${path.before} ${path.after}`, class: `path${path.uncertain ? " uncertain" : ""}${isTimed ? " timed" : ""}${state.side === "count" ? change(path) : ""}` },
    draw("path", { class: "line", d: line, "stroke-width": width.toFixed(2) }), draw("path", { class: "head", d: head }),
    draw("path", { class: "hit", d: line }), text(label, x - slot / 2 + 5 + 6 * rope, y + 4.5, "label"));
  if (scale.value(path) <= 0 && state.side) group.classList.add("absent");
  if (path.original) group.style.setProperty("--left", Math.min(path.count / path.original, 1).toFixed(2));
  return share(group, isTimed ? scale.time(path.time.seconds) : rope);
}

function drawActivity(one, [x, y], scale, state) {
  const [width, height] = one.size, isTimed = state.time && one.seconds !== null, isInner = one.kind === "activity";
  const number = state.side ? (isInner ? count(scale.value(one)) : "") : one.numbers[state.time && isInner ? 1 : 0];
  const all = one.lines.length * NAME_LINE + (number ? LINE : 0);
  let line = -all / 2 - 4.5;
  const words = one.lines.map((words) => text(words, 0, (line += NAME_LINE), "name"));
  if (number) words.push(text(number, 0, line + LINE, "number"));
  const value = isTimed ? scale.time(one.seconds) : state.time ? 0 : scale.shade(one);
  const group = draw("g", { "data-node": one.key, class: `node ${one.kind}${isTimed ? " timed" : ""}${isInner && value > 0.58 ? " strong" : ""}${state.side === "count" && isInner ? change(one) : ""}`,
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
  draw("rect", { x: -width / 2, y: -height / 2, width, height, rx: isInner || one.kind === "other" ? 7 : height / 2 }), ...words);
  if (state.side && isInner && scale.value(one) <= 0) group.classList.add("absent");
  return share(group, value);
}

// One picture of a layout: paths from rare to frequent, above them the boxes, above all the labels.
function picture(layout, scale, state) {
  const parts = new Map(), lines = [], labels = [], boxes = [];
  for (const path of [...layout.part.paths].reverse()) {
    const element = drawPath(path, layout.way(path), scale, state);
    const label = draw("g", { class: element.getAttribute("class") }, element.querySelector("text"));
    parts.set(path, [element, label]);
    lines.push(element);
    labels.push(share(label, Number(element.style.getPropertyValue("--share"))));
  }
  for (const one of layout.part.activities) {
    const element = drawActivity(one, layout.at.get(one.key), scale, state);
    parts.set(one, [element]);
    boxes.push(element);
  }
  const root = draw("svg", { class: `map-picture ${state.side ?? ""}`, "aria-hidden": "true" },
    draw("g", { class: "lines" }, ...lines), draw("g", { class: "tokens" }), draw("g", { class: "boxes" }, ...boxes),
    draw("g", { class: "labels" }, ...labels));
  return { root, parts };
}

// ---------------------------------------------------------------------------------------------------------- view

// Where the centre of the frame is on the map, and how many pixels a unit of the map has; the same for all pictures.
class View {
  constructor(frame) {
    Object.assign(this, { frame, pictures: [], x: 0, y: 0, scale: 1, width: 1, height: 1, isFree: false, pointers: new Map() });
    this.#listen();
    this.observer = new ResizeObserver(() => (this.isFree ? this.apply() : this.fit()));
    this.observer.observe(frame);
  }

  get room() { return [Math.max(this.frame.clientWidth, 1), Math.max(this.frame.clientHeight, 1)]; }

  get isNarrow() { return this.frame.clientWidth < NARROW; }

  // What the frame can show without panning to the sides.
  get across() { return (this.room[0] - 8) / this.width; }

  // The whole map. A frame in which it would be too small to read grows, and the page scrolls.
  fit(least = SMALLEST / LABEL) {
    this.isFree = false;
    this.frame.style.minHeight = "";
    const fitting = Math.min(this.across, this.isNarrow ? 1 : (this.room[1] - 32) / this.height, 1.3), scale = Math.max(fitting, least);
    this.frame.style.minHeight = `${Math.ceil(this.height * scale) + 24}px`;
    this.show(this.width * scale > this.room[0] && this.start ? this.start : this.width / 2, this.height / 2, scale);
  }

  zoom(factor, at = null) {
    this.isFree = true;
    const before = this.scale, scale = Math.min(CLOSEST, Math.max(before * factor, 0.05));
    const [dx, dy] = at ? [at[0] - this.room[0] / 2, at[1] - this.room[1] / 2] : [0, 0];
    this.show(this.x + dx / before - dx / scale, this.y + dy / before - dy / scale, scale);
  }

  pan(x, y) { this.isFree = true; this.show(this.x + x / this.scale, this.y + y / this.scale, this.scale); }

  show(x, y, scale) {
    this.scale = scale;
    this.x = Math.min(Math.max(x, 0), this.width);
    this.y = Math.min(Math.max(y, 0), this.height);
    this.apply();
  }

  apply() {
    const [width, height] = this.room.map((pixels) => pixels / this.scale);
    for (const one of this.pictures) one.setAttribute("viewBox", `${this.x - width / 2} ${this.y - height / 2} ${width} ${height}`);
    this.moved?.();
  }

  #listen() {
    const { frame, pointers } = this, keys = {
      "+": () => this.zoom(1.25), "-": () => this.zoom(0.8), 0: () => this.fit(0), ArrowLeft: () => this.pan(-60, 0),
      ArrowRight: () => this.pan(60, 0), ArrowUp: () => this.pan(0, -60), ArrowDown: () => this.pan(0, 60),
    };
    const within = (event) => {
      const box = frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    frame.addEventListener("keydown", (event) => {
      if (event.target !== frame || !(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    frame.addEventListener("wheel", (event) => {
      const scrolls = document.documentElement.scrollHeight > innerHeight + 8;  // then the wheel is the page's until one clicks
      if (scrolls && document.activeElement !== frame && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 60) * 0.004), within(event));
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest(".map-wipe")) return;
      pointers.set(event.pointerId, within(event));
      frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener("pointermove", (event) => {
      if (!pointers.has(event.pointerId)) return;
      const before = [...pointers.values()], now = within(event), old = pointers.get(event.pointerId);
      pointers.set(event.pointerId, now);
      if (pointers.size === 1) { this.pan(old[0] - now[0], old[1] - now[1]); return; }
      const after = [...pointers.values()], apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      const middle = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], [from, to] = [middle(before), middle(after)];
      this.pan(from[0] - to[0], from[1] - to[1]);
      this.zoom(apart(after) / apart(before), to);
    });
    for (const name of ["pointerup", "pointercancel"]) frame.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
}

// ------------------------------------------------------------------------------------------- tooltip, aside, legend

// An interval as a bar: its ends, and the number in it, on a scale from 0.
function bar([low, high], value) {
  const most = Math.max(high, value, 1) * 1.08, part = (number) => `${(100 * number) / most}%`;
  const range = make("i", { className: "range" }), point = make("i", { className: "point" });
  Object.assign(range.style, { left: part(low), width: part(high - low) });
  point.style.left = part(value);
  return make("div", { className: "interval" }, range, point);
}

// What the times of paths and of activities are, and both together.
const timeNames = (model) => (model.is_paired
  ? ["Median waiting time", "Median service time", "median waiting time between activities, service time in them"]
  : ["Median", "Typical time since the step before", "median time"]);

function tip(model, one, names) {
  const rows = [make("strong", { textContent: one.name ?? `${names.get(one.before)} → ${names.get(one.after)}` })];
  const add = (words, className = "") => rows.push(make("p", { textContent: words.replaceAll(/(\d) (s|min|h|d|y)\b/g, "$1\u00a0$2"), className }));
  if (one.kind === "other") add("All activities that were not selected");
  if (typeof one.original === "number") {
    add(`${count(one.original)} ${model.noun} in the original log, ${count(one.count)} in the release`);
    return rows;
  }
  if (!["start", "end", "other"].includes(one.kind) && (one.before || one.numbers[0])) add(`${count(one.count)} ${model.noun}`);
  if (one.interval) {
    rows.push(bar(one.interval, one.count));
    add(`95 %: ${count(one.interval[0])} to ${count(one.interval[1])}`, "small");
  }
  if (one.uncertain) add("Uncertain: it may be noise alone", "small");
  if (one.repeated > 0) add(`Repeated in ${count(one.repeated)} of them (${percent(one.repeated / Math.max(one.count, 1))})`);
  if (one.time) add(`${timeNames(model)[0]} ${one.time.median}, half of them ${one.time.lower} to ${one.time.upper} (${model.times})`);
  else if (typeof one.seconds === "number") add(`${timeNames(model)[1]}: ${one.numbers[1]} (${model.times})`);
  return rows;
}

function aside(model) {
  const cards = [];
  if (model.throughput) {
    const { bars, median, lower, upper } = model.throughput, most = Math.max(...bars.map((one) => one.share));
    const columns = bars.map((one) => {
      const column = make("i", { title: `${one.label}: ${percent(one.share)}`, className: one.median ? "median" : "" });
      column.style.height = `${(100 * one.share) / most}%`;
      return column;
    });
    const chart = make("div", { className: "columns", ariaLabel: `Distribution of the throughput time: median ${median}` }, ...columns);
    chart.setAttribute("role", "img");
    cards.push(make("section", {}, make("strong", { textContent: "Throughput time" }), make("p", { className: "big", textContent: median }),
      make("p", { className: "small", textContent: `median, ${model.times === "generated" ? "generated" : "measured"}; half of the cases ${lower} to ${upper}` }), chart,
      make("p", { className: "ends small" }, make("span", { textContent: bars[0].label.split(" to ")[0] }), make("span", { textContent: bars.at(-1).label.split(" to ").at(-1) }))));
  }
  const repeated = model.activities.filter((one) => one.repeated > 0).sort((a, b) => b.repeated / b.count - a.repeated / a.count).slice(0, 5);
  if (repeated.length) {
    cards.push(make("section", {}, make("strong", { textContent: "Rework" }), make("p", { className: "small", textContent: "share of the cases of an activity that repeat it" }),
      ...repeated.map((one) => {
        const fill = make("i"), value = Math.min(one.repeated / Math.max(one.count, 1), 1);
        fill.style.width = `${100 * value}%`;
        return make("div", { className: "rework" }, make("span", { textContent: one.name }), make("b", { textContent: percent(value) }), make("div", { className: "track" }, fill));
      })));
  }
  return cards.length ? make("div", { className: "map-aside" }, ...cards) : null;
}

function legend(model, isTime) {
  const key = (name, words) => make("span", { className: `key ${name}` }, make("i"), words);
  if (model.headline) return [key("same", `unchanged: within ${percent(SAME)}`), key("lost", "fewer: the paler, the more are missing"), key("inflated", "more")];
  const unsure = model.paths.some((one) => one.uncertain) ? [key("unsure", "uncertain: may be noise alone")] : [];
  if (!isTime) return [key("often", `rare to frequent (${model.noun})`), ...unsure];
  return [key("long", `${timeNames(model)[2]}, ${model.times}: ${timeEnds(model).map((one) => one.text).join(" to ")}`), ...unsure];
}

// -------------------------------------------------------------------------------------------------------- export

const LOOK = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "stroke-linejoin"];

// The picture as it is shown, in its whole size, with its colours instead of classes.
function exported(picture, view) {
  const copy = picture.cloneNode(true), all = [...picture.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((element, index) => {
    const style = getComputedStyle(all[index]);
    LOOK.forEach((name) => element.setAttribute(name, style.getPropertyValue(name)));
    element.removeAttribute("style");
  });
  copy.querySelectorAll(".hit, .tokens, .absent").forEach((element) => element.remove());
  copy.setAttribute("viewBox", `-16 -16 ${view.width + 32} ${view.height + 32}`);
  copy.setAttribute("width", Math.ceil(view.width + 32));
  copy.setAttribute("height", Math.ceil(view.height + 32));
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

async function asPng(address, paper) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
  const canvas = make("canvas", { width: image.width * scale, height: image.height * scale }), context = canvas.getContext("2d");
  context.fillStyle = paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

// --------------------------------------------------------------------------------------------------------- mount

function slider(words, most, change) {
  const output = make("b"), input = make("input", { type: "range", min: 1, max: Math.max(most, 1), ariaLabel: words });
  input.addEventListener("input", change);
  const say = (text) => { output.textContent = input.ariaValueText = text; };
  return { input, say, label: make("label", { className: "map-slider" }, make("span", {}, words, " ", output), input) };
}

// Makes `root` the map of `model`. `name` is the file name of exports; without it there are none.
export function mountMap(root, model, { name = root.dataset.name ?? "" } = {}) {
  const frame = make("div", { className: "map-frame", tabIndex: 0 }), hint = make("div", { className: "map-tip", hidden: true });
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Process map: arrow keys move it, plus and minus zoom, 0 shows all of it");
  const view = new View(frame), state = { time: false, layout: null, drawn: [], isPlaying: false }, layouts = new Map();
  const names = new Map(model.activities.map((one) => [one.key, one.kind === "activity" ? one.name : `(${one.kind})`]));
  const steps = Math.max(...model.activities.map((one) => one.step)), inner = model.activities.filter((one) => !["start", "end"].includes(one.kind));
  const all = model.paths.reduce((sum, one) => sum + Math.max(one.count, 0), 0) || 1;
  const isCompared = Boolean(model.headline), sides = isCompared ? ["count", "original"] : [undefined];

  const first = slider("Activities", steps, () => refresh().catch(failed)), second = slider("Paths", model.paths.length, () => refresh().catch(failed));
  const button = (words, label, act) => {
    const element = make("button", { type: "button", textContent: words, title: label, ariaLabel: label });
    element.addEventListener("click", () => act(element));
    return element;
  };
  const search = make("input", { type: "search", autocomplete: "off", placeholder: "Find an activity", ariaLabel: "Find an activity" });
  const controls = make("form", { className: "map-controls" }, search, first.label, second.label);
  controls.addEventListener("submit", (event) => event.preventDefault());
  if (model.times && !isCompared) {
    const choose = (isTime) => () => { state.time = isTime; refresh().catch(failed); };
    state.modes = [button("Cases", "Show how often", choose(false)), button("Time", "Show median times", choose(true))];
    if (model.noun === "times") state.modes[0].textContent = "Frequency";
    controls.append(make("span", { className: "map-group" }, ...state.modes));
  }
  if (!isCompared && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    controls.append(button("▶", "Move tokens along the main paths", (element) => {
      state.isPlaying = !state.isPlaying;
      element.textContent = state.isPlaying ? "⏸" : "▶";
      play();
    }));
  }
  controls.append(make("span", { className: "map-group" }, button("−", "Zoom out", () => view.zoom(0.8)), button("+", "Zoom in", () => view.zoom(1.25)),
    button("Fit", "Fit the whole map", () => view.fit(0))));
  if (name) {
    const save = (address, suffix) => make("a", { href: address, download: `${name}.${suffix}` }).click();
    const picture = () => exported(state.drawn[0].root, view), paper = () => getComputedStyle(frame).backgroundColor;
    controls.append(make("span", { className: "map-group" }, button("SVG", "Save the map as SVG", () => save(picture(), "svg")),
      button("PNG", "Save the map as PNG", async () => save(await asPng(picture(), paper()), "png"))));
  }
  const wipe = isCompared ? handle(frame) : null;
  const keys = make("div", { className: "map-legend" }), side = aside(model);
  const status = make("p", { className: "map-status" });
  status.setAttribute("role", "status");
  const notes = make("div", { className: "map-notes" }, ...model.captions.map((words) => make("p", { textContent: words })));
  const [number, ...words] = (model.headline ?? "").split(/(?<=%) /);
  const headline = isCompared ? [make("p", { className: "map-headline" }, make("b", { textContent: number }), ` ${words.join(" ")}`)] : [];
  root.replaceChildren(...headline, controls, ...(wipe ? [wipe.sides] : []), make("div", { className: "map-body" }, frame, ...(side ? [side] : [])), make("div", { className: "map-foot" }, keys, status, notes));

  // The parts that are near what is searched or pointed at; null if everything is.
  const around = (keys) => new Set([...keys, ...state.layout.part.paths.filter((path) => keys.includes(path.before) || keys.includes(path.after)).flatMap((path) => [path, path.before, path.after])]);
  function wanted() {
    const words = search.value.trim().toLowerCase();
    return words ? around(state.layout.part.activities.filter((one) => names.get(one.key).toLowerCase().includes(words)).map((one) => one.key)) : null;
  }
  const faint = (near) => {
    for (const { parts } of state.drawn) {
      parts.forEach((elements, one) => elements.forEach((element) => element.classList.toggle("faint", near !== null && !near.has(one) && !near.has(one.key))));
    }
  };
  search.addEventListener("input", () => faint(wanted()));
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const words = search.value.trim().toLowerCase(), found = state.layout.part.activities.find((one) => words && names.get(one.key).toLowerCase().includes(words));
    if (found) { view.isFree = true; view.show(...state.layout.at.get(found.key), Math.max(view.scale, 1)); }
  });

  // What is under the pointer: its neighbours stay, the rest fades, and its numbers stand beside the pointer.
  function point(event) {
    const element = event.target.closest?.(".node, .path");
    const one = element && state.drawn.flatMap(({ parts }) => [...parts]).find(([, elements]) => elements.includes(element))?.[0];
    hint.hidden = !one || view.pointers.size > 0;
    if (!one) { faint(wanted()); return; }
    faint(one.key ? around([one.key]) : new Set([one, one.before, one.after]));
    hint.replaceChildren(...tip(model, one, names));
    beside(element.querySelector("rect")?.getBoundingClientRect() ?? new DOMRect(event.clientX - 6, event.clientY, 12, 12));
  }

  // Puts the hint right or left of a box, or below or above it.
  function beside(box) {
    const { left, top, width, height } = frame.getBoundingClientRect(), right = box.right - left + 8, before = box.left - left - hint.offsetWidth - 8;
    const isBeside = right + hint.offsetWidth < width || before > 0, below = box.bottom - top + 8;
    const x = right + hint.offsetWidth < width ? right : isBeside ? before : box.left - left;
    const y = isBeside ? box.top - top : below + hint.offsetHeight < height ? below : box.top - top - hint.offsetHeight - 8;
    hint.style.left = `${Math.max(4, Math.min(x, width - hint.offsetWidth - 4))}px`;
    hint.style.top = `${Math.max(4, Math.min(y, height - hint.offsetHeight - 4))}px`;
  }
  frame.addEventListener("pointermove", point);
  frame.addEventListener("pointerdown", point);
  frame.addEventListener("pointerleave", () => { hint.hidden = true; faint(wanted()); });

  function play() {
    const layer = state.drawn[0].root.querySelector(".tokens"), scale = scales(model, "count");
    layer.replaceChildren();
    for (const path of state.isPlaying ? state.layout.part.paths.slice(0, TOKENS) : []) {
      const line = state.drawn[0].parts.get(path)[0].querySelector(".line").getAttribute("d"), number = 1 + Math.round(2 * scale.rope(path));
      const seconds = path.time ? 1.2 + 3 * scale.time(path.time.seconds) : 2;
      for (let token = 0; token < number; token += 1) {
        layer.append(draw("circle", { class: "token", r: 3.5 }, draw("animateMotion", { path: line, dur: `${seconds}s`, begin: `${-(seconds * token) / number}s`, repeatCount: "indefinite" })));
      }
    }
  }

  function show() {
    const { layout } = state;
    state.drawn = sides.map((key) => picture(layout, scales(model, key ?? "count"), { time: state.time, side: key }));
    view.pictures = state.drawn.map((one) => one.root);
    Object.assign(view, { width: layout.width, height: layout.height, start: layout.at.get("start")?.[0] });
    frame.replaceChildren(...view.pictures, ...(wipe ? [wipe.bar] : []), hint);
    state.modes?.forEach((element, index) => { element.ariaPressed = String(Boolean(index) === state.time); });
    keys.replaceChildren(...legend(model, state.time));
    const { activities, paths } = layout.part, shown = activities.filter((one) => inner.includes(one)).length;
    first.say(`${shown} of ${inner.length}`);
    second.say(`${paths.length} of ${model.paths.length}`);
    const covered = paths.reduce((sum, one) => sum + Math.max(one.count, 0), 0) / all;
    status.textContent = `${percent(covered)} of all steps are on the paths shown.`;
    root.dataset.shown = `${activities.length} ${paths.length}`;
    faint(wanted());
    if (state.isPlaying) play();
    if (view.isFree) view.apply(); else view.fit();
  }

  async function arrange(step, number) {
    const part = chosen(model, step, number), source = dotOf(model, part, state.time ? 1 : 0);
    if (!layouts.has(source)) layouts.set(source, await lay(source));
    state.layout = placed(layouts.get(source), part);
    Object.assign(view, { width: state.layout.width, height: state.layout.height });
  }
  let isBusy = false, isNext = false;
  const failed = (error) => { status.textContent = `The map could not be laid out: ${error.message}`; };
  async function refresh() {
    if (isBusy) { isNext = true; return; }
    isBusy = true;
    try {
      do {
        isNext = false;
        await arrange(Number(first.input.value), Number(second.input.value));
      } while (isNext);
      show();
    } finally {
      isBusy = false;
    }
  }

  // Opens with what the model says, or with the most of it that is as wide as this frame.
  async function open() {
    const { step: most, paths } = model.opening, found = new Map();
    for (let step = 1; step <= most; step += 1) {
      for (let number = paths; number >= 8 || number === paths; number -= 2) {
        found.set(chosen(model, step, number).paths.reduce((sum, one) => sum + one.count, 0), [step, number]);
      }
    }
    const tries = [...[...found].sort((a, b) => a[0] - b[0]).map((one) => one[1]), [most, paths]];
    const fits = async (at) => { await arrange(...tries[at]); return view.across * LABEL >= SMALLEST; };
    let low = 0, high = tries.length - 1;
    if (await fits(high)) low = high;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (await fits(middle)) low = middle; else high = middle;
    }
    for (let at = low + 1; at < Math.min(low + 9, tries.length); at += 1) if (await fits(at)) low = at;  // about sorted by width
    await arrange(...tries[low]);
    first.input.value = tries[low][0];
    second.input.value = state.layout.part.paths.length;
    show();
    if (wipe) { wipe.start(); view.moved = wipe.hide; }
    root.dataset.ready = Math.round(performance.now());
  }
  open().catch(failed);
  return view;
}

// The handle between the original log, on the left, and the release.
function handle(frame) {
  const bar = make("div", { className: "map-wipe", tabIndex: 0, ariaLabel: "Between the original log and the release" });
  bar.setAttribute("role", "slider");
  const words = () => [...frame.querySelectorAll(".label, .number")].map((one) => [one, one.getBoundingClientRect()]);
  // Two halves of different numbers would be read as one: a number at the handle is hidden.
  const hide = () => {
    const { left, width } = bar.getBoundingClientRect(), x = left + width / 2;
    words().forEach(([one, box]) => one.classList.toggle("cut", box.left < x + 2 && x - 2 < box.right));
  };
  const move = (value) => {
    const part = Math.min(Math.max(value, 0), 100);
    frame.style.setProperty("--wipe", `${part}%`);
    bar.ariaValueNow = Math.round(part);
    hide();
  };
  // Near the middle, where it is at few numbers.
  const start = () => {
    const boxes = words().map((one) => one[1]), { left, width } = frame.getBoundingClientRect();
    const costs = Array.from({ length: 51 }, (_, index) => index + 25).map((part) => {
      const x = left + (part * width) / 100;
      return [boxes.filter((box) => box.left < x + 4 && x - 4 < box.right).length + Math.abs(part - 50) / 5, part];
    });
    move(costs.sort((a, b) => a[0] - b[0])[0][1]);
  };
  bar.addEventListener("pointerdown", (event) => { bar.setPointerCapture(event.pointerId); event.stopPropagation(); });
  bar.addEventListener("pointermove", (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const box = frame.getBoundingClientRect();
    move((100 * (event.clientX - box.left)) / box.width);
  });
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -5, ArrowRight: 5, Home: -100, End: 100 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(Number(bar.ariaValueNow) + by);
  });
  const pill = (side, textContent) => make("span", { className: `map-side ${side}`, textContent });
  const sides = make("div", { className: "map-sides" }, pill("before", "Original log · confidential"), pill("after", "Release"));
  return { bar, sides, start, hide };
}

export function mountAll(within) {
  for (const root of within.querySelectorAll(".travas-map")) {
    const data = root.querySelector("script[type='application/json']");
    if (data) mountMap(root, JSON.parse(data.textContent));
  }
}

if (typeof document !== "undefined") {
  mountAll(document);
  document.addEventListener("htmx:load", (event) => { if (event.target.parentNode) mountAll(event.target.parentNode); });
}
