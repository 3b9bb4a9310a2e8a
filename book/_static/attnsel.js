// Formulas wider than the page scroll in their own box: let the keyboard reach them.
function reachWideFormulas() {
  document.querySelectorAll("mjx-container").forEach((formula) => {
    if (formula.scrollWidth > formula.clientWidth && formula.clientWidth > 0) {
      formula.tabIndex = 0;
    } else {
      formula.removeAttribute("tabindex");
    }
  });
}

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  reachWideFormulas();
  window.addEventListener("resize", reachWideFormulas);
  document.addEventListener("toggle", reachWideFormulas, true);
});
