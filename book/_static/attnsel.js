// Formulas and figures wider than the page scroll in their own box: let the keyboard
// reach them.
function reachWhatScrolls() {
  document.querySelectorAll("mjx-container, .bd-article figure").forEach((box) => {
    if (box.scrollWidth > box.clientWidth && box.clientWidth > 0) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  });
}

window.addEventListener("load", async () => {
  // Sphinx's entries of the bibliography have a role that a list may not hold.
  document.querySelectorAll(".citation-list > .citation").forEach((entry) => {
    entry.setAttribute("role", "listitem");
  });
  await window.MathJax?.startup?.promise;
  reachWhatScrolls();
  window.addEventListener("resize", reachWhatScrolls);
  document.addEventListener("toggle", reachWhatScrolls, true);
});
