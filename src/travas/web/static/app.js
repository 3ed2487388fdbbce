// What a page needs besides HTMX: files that are dropped or chosen are sent, and the made-up picture follows the settings.

// A file that is chosen or dropped anywhere on a page with a drop zone is sent with its form.
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
