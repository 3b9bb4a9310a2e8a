/* global askGuess, guessesMade */
// What a reader has guessed, in this browser: nothing is sent.
const pageName = location.pathname.split("/").pop().replace(/\.html$/, "") || "index";

function answerOf(box) {
  let next = box.nextElementSibling;
  while (next && !next.matches(".guess")) {
    if (next.matches("details") && /^\s*Answer/.test(next.textContent)) { return next; }
    next = next.nextElementSibling;
  }
  return null;
}

function countGuesses() {
  const made = Object.values(guessesMade());
  const right = made.filter(({chosen, right}) => chosen === right).length;
  document.querySelectorAll(".guess-total").forEach((place) => {
    place.textContent = made.length
      ? `You guessed ${right} of ${made.length}.`
      : "You have made no guess in this browser yet.";
  });
}

document.querySelectorAll(".guess.admonition").forEach((box, i) => {
  askGuess(box, `${pageName}-${i}`, answerOf(box));
});
countGuesses();
