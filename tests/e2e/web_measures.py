"""What the browser itself measures on a page: paints, shifts of the layout, interactions, stalls, answers to clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OBSERVE = """
(() => {
  const found = { paint: 0, shift: 0, shifted: [], stalls: [], interactions: [], answers: [] }, observers = [];
  const observe = (type, take, options = {}) => {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(take));
    observer.observe({ type, buffered: true, ...options });
    observers.push([observer, take]);
  };
  observe("largest-contentful-paint", (entry) => { found.paint = entry.startTime; });
  observe("layout-shift", (entry) => {
    if (entry.hadRecentInput) return;
    found.shift += entry.value;
    const text = (node) => (node?.outerHTML || node?.textContent || "").slice(0, 120);
    found.shifted.push(...entry.sources.map(({ node }) => `${entry.value.toFixed(3)} ${text(node)}`));
  });
  observe("longtask", (entry) => found.stalls.push(entry.duration));
  observe("event", (entry) => {
    if (entry.interactionId) found.interactions.push([entry.name, entry.duration]);
  }, { durationThreshold: 16 });
  const ripple = (node) => node.nodeType === 1 && node.matches(".q-ripple, .q-ripple *");
  addEventListener("click", ({ target, timeStamp }) => {
    const name = (target.closest("[aria-label]")?.ariaLabel || target.innerText || target.value || target.tagName).slice(0, 80);
    const watch = new MutationObserver((changes) => {
      const real = changes.filter((one) => one.type !== "childList" || ![...one.addedNodes, ...one.removedNodes].every(ripple));
      if (!real.length) return;
      watch.disconnect();
      requestAnimationFrame(() => found.answers.push([name, performance.now() - timeStamp]));
    });
    watch.observe(document.body, {
      childList: true, characterData: true, subtree: true,
      attributeFilter: ["aria-checked", "aria-selected", "aria-expanded", "aria-pressed", "disabled", "open", "style"],
    });
  }, true);
  window.measured = async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    observers.forEach(([observer, take]) => observer.takeRecords().forEach(take));
    return found;
  };
})()
"""


@dataclass(frozen=True)
class Measured:
    """What was measured since the page was loaded, in milliseconds; `shifted` is what moved, for the message of a test."""

    paint: float
    shift: float
    shifted: list[str]
    stalls: list[float]
    interactions: list[tuple[str, float]]
    answers: list[tuple[str, float]]


def measured(tab: Any) -> Measured:
    """Return what was measured on a page of a context with `OBSERVE` as its initial script."""
    return Measured(**tab.evaluate("measured()"))
