// What a page needs besides HTMX: files that are dropped or chosen are sent, and the made-up picture follows the settings.

// ------------------------------------------------------------------------------------- files, chosen or dropped anywhere

const zone = () => document.querySelector("[data-drop]");

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]") && event.target.value) event.target.form.requestSubmit();
});
document.addEventListener("dragover", (event) => {
  if (!zone() || !event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  document.body.classList.add("dropping");
});
for (const name of ["dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    if (name === "drop" || event.relatedTarget === null) document.body.classList.remove("dropping");
  });
}
document.addEventListener("drop", (event) => {
  if (!zone() || !event.dataTransfer.files.length) return;
  event.preventDefault();
  const input = zone().querySelector("input[type='file']");
  input.files = event.dataTransfer.files;
  input.form.requestSubmit();
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-drop]")) document.body.classList.add("sending");
});
window.addEventListener("pageshow", () => document.body.classList.remove("sending"));

// ------------------------------------------------------------------- errors in a closed drawer, and what stops a release

function openErrors() {
  for (const error of document.querySelectorAll(".error:not(:empty)")) {
    for (let drawer = error.closest("details"); drawer; drawer = drawer.parentElement.closest("details")) drawer.open = true;
  }
  const button = document.getElementById("release");  // what it costs is swapped, and whether it fits into the budget
  if (button) button.disabled = "stop" in document.getElementById("cost").dataset;
}
openErrors();
document.addEventListener("htmx:afterSettle", openErrors);

// ------------------------------------------------------------------------------- ε by a slider, or typed as exact text

const strength = document.querySelector(".strength");
if (strength) {
  const steps = strength.dataset.steps.split(" "), [slider, text] = strength.querySelectorAll("input");
  const follow = () => {
    const near = steps.map((step) => Math.abs(Math.log(Number(step) / (Number(text.value) || 1))));
    slider.value = near.indexOf(Math.min(...near));
  };
  slider.addEventListener("input", () => { text.value = steps[slider.value]; });
  text.addEventListener("change", follow);
  follow();
}

// ---------------------------------------------------------------------------------------------- the made-up picture

const preview = document.getElementById("preview");
let shown = "";

async function picture() {
  const form = document.getElementById("draft"), kind = form.elements.kind.value, epsilon = form.elements.epsilon.value;
  const wanted = `/preview.json?${new URLSearchParams({ kind, epsilon })}`;
  if (wanted === shown) return;
  shown = wanted;
  preview.classList.add("waiting");
  const { mountMap } = await import("/static/map.js");
  let answer = await fetch(wanted);
  while (answer.status === 202 && shown === wanted) {  // it is being drawn
    await new Promise((done) => { setTimeout(done, 200); });
    answer = await fetch(wanted);
  }
  if (shown !== wanted) return;  // another one is wanted by now
  preview.classList.remove("waiting");
  if (answer.ok) mountMap(preview, await answer.json());
}
if (preview) {
  picture();
  document.addEventListener("change", (event) => { if (event.target.form?.id === "draft") picture(); });
}
