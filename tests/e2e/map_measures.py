"""What a map in a browser looks like, measured from the DOM: for `test_map_looks.py` and `benchmarks/map_pages.py`."""

from pathlib import Path
from typing import Any

SCREENS = {"desktop": (1440, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")

MEASURES = """() => {
  const root = document.querySelector('.travas-map'), svg = root.querySelector('.map-picture');
  const scale = svg.getScreenCTM().a, frame = root.querySelector('.map-frame').getBoundingClientRect();
  const place = (one) => one.getBoundingClientRect();
  const nodes = [...svg.querySelectorAll('.node')];
  const boxes = nodes.map((one) => ({ key: one.dataset.node, box: place(one.querySelector('rect')) }));
  const labels = [...svg.querySelectorAll('.labels text')].filter((one) => one.textContent).map(place);
  const within = ({ x, y }, box, by) => x > box.left + by && x < box.right - by && y > box.top + by && y < box.bottom - by;
  let through = 0;
  for (const path of svg.querySelectorAll('.lines .path')) {
    const line = path.querySelector('.line'), matrix = line.getScreenCTM(), own = path.dataset.path.split(' ');
    const points = [];
    for (let at = 0; at <= line.getTotalLength(); at += 3) points.push(line.getPointAtLength(at).matrixTransform(matrix));
    through += boxes.filter(({ key, box }) => !own.includes(key) && points.some((one) => within(one, box, 2))).length;
  }
  const meet = (one, other, by) => one.left < other.right - 2 && other.left < one.right - 2
    && one.top < other.bottom - by && other.top < one.bottom - by;
  let over = 0;
  labels.forEach((one, index) => {
    for (const other of labels.slice(index + 1)) {
      over += meet(one, other, 3);
    }
  });
  const sizes = [...svg.querySelectorAll('text')].map((one) => parseFloat(getComputedStyle(one).fontSize) * scale);
  const inside = (box) => box.left >= frame.left - 1 && box.right <= frame.right + 1
    && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
  const cut = boxes.filter(({ box }) => !inside(box));
  const page = performance.getEntriesByType('navigation')[0], shown = root.dataset.shown.split(' ').map(Number);
  return {
    activities: shown[0], paths: shown[1], covered: parseInt(root.querySelector('.map-status').textContent),
    through, over, label: Math.min(...sizes), cut: cut.length,
    first: Number(root.dataset.ready) - page.domInteractive,
  };
}"""


def measured(browser: Any, page: Path, screen: str, scheme: str) -> dict[str, float]:
    """Open the page of a map and measure what is shown at first. Nothing may be requested, and no error appear."""
    width, height = SCREENS[screen]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    tab = context.new_page()
    faults: list[str] = []
    tab.on("request", lambda one: faults.append(one.url) if one.url.startswith("http") else None)
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda line: faults.append(line.text))
    tab.goto(page.as_uri())
    tab.locator("[data-ready]").wait_for(timeout=120_000)
    found: dict[str, float] = tab.evaluate(MEASURES)
    context.close()
    assert not faults, faults
    return found | {"kilobytes": page.stat().st_size / 1000}
