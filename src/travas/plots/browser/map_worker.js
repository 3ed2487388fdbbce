// Lays out process maps with Graphviz, apart from the page: a message is { number, dot }, the answer { number, layout } or
// { number, error }. In a page that is one file, the source of Graphviz stands before this one instead of the import.

import { Graphviz } from "./graphviz.js";

onmessage = async ({ data: { number, dot } }) => {
  try {
    const graphviz = await Graphviz.load();
    postMessage({ number, layout: JSON.parse(graphviz.dot(dot, "json0")) });
  } catch (error) {
    postMessage({ number, error: String(error?.message ?? error) });
  }
};

Graphviz.load();
