// A process map in the web app: pictures of the server, laid out by Graphviz in a worker.

import { mountMap } from "travas-map-view/map_view.js";

let worker = null, sent = 0;
const waiting = new Map();

function lay(dot) {
  if (worker === null) {
    worker = new Worker(import.meta.resolve("travas-graphviz/map_worker.js"), { type: "module" });
    worker.onmessage = ({ data: { number, layout, error } }) => {
      const { resolve, reject } = waiting.get(number);
      waiting.delete(number);
      if (layout) resolve(layout); else reject(new Error(error));
    };
    worker.onerror = () => {
      waiting.forEach(({ reject }) => reject(new Error("Graphviz did not start")));
      waiting.clear();
      worker = null;
    };
  }
  return new Promise((resolve, reject) => {
    waiting.set(++sent, { resolve, reject });
    worker.postMessage({ number: sent, dot });
  });
}

// Names are text in the picture: it is parsed as XML, and scripts in it would not run.
function framed({ label, svg }) {
  const frame = Object.assign(document.createElement("div"), { className: "map-frame", tabIndex: 0, role: "group", ariaLabel: label });
  frame.append(document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
  return frame;
}

export default {
  template: '<div class="travas-map"></div>',
  props: { pictures: Array, name: String },
  mounted() {
    const frames = Object.assign(document.createElement("div"), { className: "map-frames" });
    frames.append(...this.pictures.map(framed));
    this.$el.append(frames);
    this.view = mountMap(this.$el, { lay, name: this.name });
  },
  unmounted() {
    this.view.observer.disconnect();
  },
};
