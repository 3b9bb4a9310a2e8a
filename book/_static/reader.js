/* global askGuess */
// Show the reader's guesses, which `guess.js` stores.
const pageName = location.pathname.split("/").pop().replace(/\.html$/, "") || "index";

function answerOf(box) {
  let next = box.nextElementSibling;
  while (next && !next.matches(".guess")) {
    if (next.matches("details") && /^\s*Answer/.test(next.textContent)) { return next; }
    next = next.nextElementSibling;
  }
  return null;
}

document.querySelectorAll(".guess.admonition").forEach((box, i) => {
  askGuess(box, `${pageName}-${i}`, answerOf(box));
});
