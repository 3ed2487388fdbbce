// The view of process maps in pages: sliders, zoom, hovering and export. It moves and hides the parts of SVG pictures that
// travas has drawn (plots/map_picture.py); several pictures in one root share layout, zoom and sliders.

const FIRST_ACTIVITIES = 20, FIRST_PATHS = 45;
const CLOSEST = 6, READABLE = 0.6;
const PLAIN = "#555555";

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// The most frequent activities and pairs; every activity keeps its strongest way in and out (ProcessGraph.most_frequent).
export function selection(graph, activities, paths) {
  const inner = graph.nodes.filter((node) => !node.isTerminal).sort((a, b) => b.count - a.count || a.rank - b.rank);
  const shown = new Set(graph.nodes.filter((node) => node.isTerminal).map((node) => node.key));
  inner.slice(0, activities).forEach((node) => shown.add(node.key));
  const possible = graph.pairs.filter((pair) => shown.has(pair.before) && shown.has(pair.after));
  const seen = new Set(), kept = new Set();
  for (const pair of possible) {
    if (pair.before === pair.after) continue;
    const sides = [`<${pair.before}`, `>${pair.after}`];
    if (sides.some((side) => !seen.has(side))) kept.add(pair.edge);
    sides.forEach((side) => seen.add(side));
  }
  for (const pair of possible) {
    if (kept.size >= paths) break;
    kept.add(pair.edge);
  }
  const pairs = possible.filter((pair) => kept.has(pair.edge));
  const used = new Set(pairs.flatMap((pair) => [pair.before, pair.after]));
  return { nodes: graph.nodes.filter((node) => used.has(node.key)), pairs };
}

// Nodes from start to end and pairs from frequent to rare, each with its elements in all pictures.
function graphOf(pictures) {
  const nodes = new Map(), pairs = new Map();
  for (const picture of pictures) {
    for (const element of picture.querySelectorAll(".node")) {
      const { key, count, dot } = element.dataset;
      const node = nodes.get(key) ?? {
        key, dot, count: Number(count), rank: Number(key.slice(1)) || 0, isTerminal: key === "start" || key === "end", elements: [],
      };
      node.elements.push(element);
      nodes.set(key, node);
    }
    for (const element of [...picture.querySelectorAll(".pair")].reverse()) {
      const { before, after, count, dot } = element.dataset, edge = `${before} ${after}`;
      const pair = pairs.get(edge) ?? { edge, before, after, dot, count: Number(count), elements: [] };
      pair.elements.push(element);
      pairs.set(edge, pair);
      const line = element.querySelector("path"), hit = line.cloneNode();
      line.dataset.colour = line.getAttribute("stroke");
      hit.removeAttribute("marker-end");
      hit.setAttribute("class", "hit");
      hit.setAttribute("stroke", "transparent");
      hit.setAttribute("stroke-width", "12");
      line.after(hit);
    }
  }
  return { nodes: [...nodes.values()], pairs: [...pairs.values()], header: pictures[0].querySelector(".map").dataset.dot };
}

const dotOf = (graph, chosen) => graph.header + [...chosen.nodes, ...chosen.pairs].map((part) => part.dot).join(" ") + " }";

// Moves all chosen parts to where Graphviz has placed them; returns the size of the picture.
function place(found, chosen) {
  const [left, bottom, right, top] = found.bb.split(",").map(Number);
  const point = (text) => { const [x, y] = text.split(",").map(Number); return [x - left, top - y]; };
  const move = (element, [x, y]) => element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  const names = new Map(), nodes = new Map(chosen.nodes.map((node) => [node.key, node]));
  for (const thing of found.objects) {
    names.set(thing._gvid, thing.name);
    if (thing.pos) nodes.get(thing.name).elements.forEach((element) => move(element, point(thing.pos)));
  }
  const pairs = new Map(chosen.pairs.map((pair) => [pair.edge, pair]));
  for (const thing of found.edges ?? []) {
    const points = thing.pos.split(" ").map(point).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
    const way = `M${points[0]}C${points.slice(1).join(" ")}`;
    for (const element of pairs.get(`${names.get(thing.tail)} ${names.get(thing.head)}`).elements) {
      element.querySelectorAll("path").forEach((path) => path.setAttribute("d", way));
      move(element.querySelector(".label"), point(thing.lp));
    }
  }
  return { width: right - left, height: top - bottom };
}

function slider(words, most, value, change) {
  const output = make("span", { className: "value" });
  const input = make("input", { type: "range", min: 1, max: Math.max(most, 1), value, ariaLabel: words });
  input.addEventListener("input", change);
  const say = (number) => { output.textContent = input.ariaValueText = `${number} of ${most}`; };
  return { input, say, label: make("label", {}, make("span", {}, `${words} `, output), input) };
}

// One view for all pictures: where its centre is on the map, and how many pixels a unit of the map has.
class View {
  constructor(pictures, frames) {
    Object.assign(this, { pictures, frames, x: 0, y: 0, scale: 1, width: 1, height: 1, isFree: false });
    for (const frame of frames) this.#listen(frame);
    this.observer = new ResizeObserver(() => (this.isFree ? this.apply() : this.first()));
    this.observer.observe(frames[0]);
  }

  get room() { return [Math.max(this.frames[0].clientWidth, 1), Math.max(this.frames[0].clientHeight, 1)]; }

  get fitting() { return Math.min(this.room[0] / (this.width + 24), this.room[1] / (this.height + 24), 1.25); }

  fit() { this.isFree = false; this.show(this.width / 2, this.height / 2, this.fitting); }

  // The whole map, or its beginning in a readable size; maps side by side are compared as wholes.
  first() {
    const least = this.pictures.length > 1 ? 0 : Math.min(READABLE, this.room[0] / 400);
    const scale = Math.max(this.fitting, least);
    const whole = scale === this.fitting;
    this.show(this.width / 2, whole ? this.height / 2 : this.room[1] / scale / 2 - 8, scale);
  }

  zoom(factor) { this.isFree = true; this.show(this.x, this.y, this.scale * factor); }

  pan(x, y) { this.isFree = true; this.show(this.x + x / this.scale, this.y + y / this.scale, this.scale); }

  show(x, y, scale) {
    this.scale = Math.min(CLOSEST, Math.max(scale, 0.02));
    this.x = Math.min(Math.max(x, 0), this.width);
    this.y = Math.min(Math.max(y, 0), this.height);
    this.apply();
  }

  apply() {
    const [width, height] = this.room.map((pixels) => pixels / this.scale);
    for (const picture of this.pictures) {
      picture.setAttribute("viewBox", `${this.x - width / 2} ${this.y - height / 2} ${width} ${height}`);
    }
  }

  #listen(frame) {
    const keys = {
      "+": () => this.zoom(1.25), "-": () => this.zoom(0.8), 0: () => this.fit(), ArrowLeft: () => this.pan(-40, 0),
      ArrowRight: () => this.pan(40, 0), ArrowUp: () => this.pan(0, -40), ArrowDown: () => this.pan(0, 40),
    };
    frame.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => { if (event.button === 0) frame.setPointerCapture(event.pointerId); });
    frame.addEventListener("pointermove", (event) => {
      if (frame.hasPointerCapture(event.pointerId)) this.pan(-event.movementX, -event.movementY);
    });
  }
}

function download(address, name) {
  make("a", { href: address, download: name }).click();
}

// The picture as it is shown, in its whole size, without what is hidden.
function exported(picture, size) {
  const copy = picture.cloneNode(true);
  copy.querySelectorAll(".hidden, .hit").forEach((element) => element.remove());
  copy.querySelectorAll(".faint").forEach((element) => element.classList.remove("faint"));
  copy.setAttribute("viewBox", `-12 -12 ${size.width + 24} ${size.height + 24}`);
  copy.setAttribute("width", Math.ceil(size.width + 24));
  copy.setAttribute("height", Math.ceil(size.height + 24));
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

async function asPng(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
  const canvas = make("canvas", { width: image.width * scale, height: image.height * scale });
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

// Makes the pictures in `root` a view. `lay` turns DOT into Graphviz's json0; without it, parts stay where they are drawn.
// `name` is the file name of exports; without it there are none.
export function mountMap(root, { lay = null, name = "" } = {}) {
  const frames = [...root.querySelectorAll(".map-frame")], pictures = frames.map((frame) => frame.querySelector("svg"));
  const graph = graphOf(pictures), drawn = pictures[0].viewBox.baseVal;
  const view = new View(pictures, frames);
  Object.assign(view, { width: drawn.width, height: drawn.height });
  const layouts = new Map();
  const all = [...graph.nodes, ...graph.pairs];
  const activities = graph.nodes.filter((node) => !node.isTerminal).length;
  const detail = make("p", { className: "detail", textContent: "Point at a pair or an activity for its numbers." });
  detail.setAttribute("role", "status");
  const first = slider("Activities", activities, Math.min(activities, FIRST_ACTIVITIES), () => refresh());
  const second = slider("Paths", graph.pairs.length, Math.min(graph.pairs.length, FIRST_PATHS), () => refresh());
  const button = (words, act, label = words) => {
    const element = make("button", { type: "button", textContent: words, ariaLabel: label });
    element.addEventListener("click", act);
    return element;
  };
  const controls = make("form", { className: "controls" }, first.label, second.label);
  controls.addEventListener("submit", (event) => event.preventDefault());

  if (root.querySelector(".pair .duration")) {
    const choice = make("select", {}, make("option", { value: "number", textContent: "frequency" }),
      make("option", { value: "duration", textContent: "duration" }));
    choice.addEventListener("input", () => measure(choice.value));
    controls.append(make("label", {}, "Show ", choice));
  }
  controls.append(make("span", { className: "buttons" }, button("+", () => view.zoom(1.25), "Zoom in"),
    button("−", () => view.zoom(0.8), "Zoom out"), button("Fit", () => view.fit(), "Fit the whole map")));
  if (name) {
    const address = () => exported(pictures[0], view);
    controls.append(make("span", { className: "buttons" }, button("SVG", () => download(address(), `${name}.svg`), "Export as SVG"),
      button("PNG", async () => download(await asPng(address()), `${name}.png`), "Export as PNG")));
  }

  function measure(kind) {
    for (const pair of graph.pairs.flatMap((one) => one.elements)) {
      const time = pair.querySelector(".duration"), line = pair.querySelector("path");
      pair.querySelector(".number").setAttribute("display", kind === "number" ? "inline" : "none");
      time?.setAttribute("display", kind === "duration" ? "inline" : "none");
      line.setAttribute("stroke", time && kind === "duration" ? line.dataset.colour : PLAIN);
    }
  }

  const search = make("input", { type: "search", autocomplete: "off", placeholder: "part of a name" });
  search.addEventListener("input", () => faint(wanted()));
  controls.append(make("label", {}, "Find ", search));

  // What the search finds: activities and the pairs at them; null if nothing is searched.
  function wanted() {
    const words = search.value.trim().toLowerCase();
    if (!words) return null;
    const name = (node) => node.elements[0].querySelector("title").textContent.split("\n")[0].toLowerCase();
    return nearby(graph.nodes.filter((node) => name(node).includes(words)).map((node) => node.key));
  }
  function nearby(keys) {
    const paths = graph.pairs.filter((pair) => keys.includes(pair.before) || keys.includes(pair.after));
    return new Set([...keys, ...paths.flatMap((pair) => [pair.edge, pair.before, pair.after])]);
  }
  const faint = (near) => {
    for (const part of all) {
      const isNear = near === null || near.has(part.key ?? part.edge);
      part.elements.forEach((element) => element.classList.toggle("faint", !isNear));
    }
  };
  const hover = (event) => {
    const element = event.target.closest(".node, .pair");
    if (element === null) { faint(wanted()); return; }
    const { key, before, after } = element.dataset;
    faint(key ? nearby([key]) : new Set([`${before} ${after}`, before, after]));
    const part = all.find((one) => one.elements.includes(element));
    detail.textContent = part.elements.map((one) => one.querySelector("title").textContent).join("\n");
  };
  for (const picture of pictures) {
    picture.addEventListener("pointerover", hover);
    picture.addEventListener("pointerleave", () => faint(wanted()));
  }

  let busy = false, again = false;
  async function arrange(chosen, begun) {
    const source = dotOf(graph, chosen);
    if (!layouts.has(source)) layouts.set(source, await lay(source));
    Object.assign(view, place(layouts.get(source), chosen));
    root.dataset.layout = Math.round(performance.now() - begun);
  }
  async function refresh() {
    const begun = performance.now();
    const chosen = selection(graph, Number(first.input.value), Number(second.input.value));
    const shown = new Set([...chosen.nodes, ...chosen.pairs]);
    const hide = (part) => part.elements.forEach((element) => element.classList.toggle("hidden", !shown.has(part)));
    first.say(chosen.nodes.filter((node) => !node.isTerminal).length);
    second.say(chosen.pairs.length);
    all.filter((part) => !lay || !shown.has(part)).forEach(hide);
    root.dataset.redraw = Math.round(performance.now() - begun);
    if (lay && busy) { again = true; return; }
    try {
      busy = true;
      if (lay) await arrange(chosen, begun);
      all.forEach(hide);
      if (view.isFree) view.apply(); else view.first();
    } catch (error) {
      detail.textContent = `The map could not be laid out: ${error.message}`;
    } finally {
      busy = false;
    }
    if (again) { again = false; await refresh(); }
    root.dataset.shown = `${chosen.nodes.length} ${chosen.pairs.length}`;
  }

  for (const picture of pictures) {
    picture.removeAttribute("width");
    picture.removeAttribute("height");
  }
  root.prepend(controls);
  root.append(detail);
  if (root.querySelector(".pair .duration")) measure("number");
  refresh();
  return view;
}
