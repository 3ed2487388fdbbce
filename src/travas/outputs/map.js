"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const picture = document.querySelector("#map svg");
  const pairs = [...document.querySelectorAll(".pair")];
  const nodes = [...document.querySelectorAll(".node")];
  const numbers = [...new Set(pairs.map((pair) => Number(pair.dataset.cases)))].sort((a, b) => a - b);
  const about = (element) => element.querySelector("title").textContent;
  const firstLine = (element) => about(element).split("\n")[0].toLowerCase();
  const size = { width: picture.viewBox.baseVal.width, height: picture.viewBox.baseVal.height };
  let scale = 1;

  const zoom = (factor) => {
    scale = Math.min(8, Math.max(0.1, factor));
    picture.setAttribute("width", size.width * scale);
    picture.setAttribute("height", size.height * scale);
  };

  const refresh = () => {
    const least = numbers[Number(find("filter").value)] || 0;
    const wanted = find("search").value.trim().toLowerCase();
    const names = new Map(nodes.map((node) => [node.dataset.key, firstLine(node)]));
    const isNear = (key) => (names.get(key) || "").includes(wanted);
    const used = new Set();
    find("least").textContent = least.toLocaleString("en");
    for (const pair of pairs) {
      const isShown = Number(pair.dataset.cases) >= least;
      pair.classList.toggle("hidden", !isShown);
      pair.classList.toggle("faint", wanted !== "" && !isNear(pair.dataset.before) && !isNear(pair.dataset.after));
      if (isShown) { used.add(pair.dataset.before); used.add(pair.dataset.after); }
    }
    for (const node of nodes) {
      node.classList.toggle("hidden", !used.has(node.dataset.key));
      node.classList.toggle("faint", wanted !== "" && !isNear(node.dataset.key));
    }
  };

  for (const element of [...pairs, ...nodes]) {
    element.addEventListener("mouseenter", () => { find("detail").textContent = about(element); });
  }
  find("filter").addEventListener("input", refresh);
  find("search").addEventListener("input", refresh);
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  find("closer").addEventListener("click", () => zoom(scale * 1.25));
  find("farther").addEventListener("click", () => zoom(scale / 1.25));
  find("whole").addEventListener("click", () => {
    const frame = find("map");
    zoom(Math.min(frame.clientWidth / size.width, frame.clientHeight / size.height));
  });
  find("map").addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
  }, { passive: false });
  refresh();
})();
