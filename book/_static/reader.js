/* global askGuess, guessesMade, store, stored */
// What a reader has guessed and solved, in this browser: nothing is sent.
const SOLVED = "attnsel-solved";
const solved = () => stored(SOLVED, []);
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

function strip(byChapter) {
  const names = Object.values(byChapter).flat();
  const mine = solved().filter((name) => names.includes(name));
  const rows = Object.entries(byChapter).map(([chapter, list]) => `<li>${list
    .map((name) => `${mine.includes(name) ? "✓" : "○"} `
      + `<a href="${chapter}.html#ex-${name}">${name}</a>`).join(", ")}</li>`);
  return `<summary>Yours: ${mine.length} of ${names.length} exercises</summary>
    <p>Mark an exercise as solved below its text, or load what you wrote elsewhere:
    <label>my_attnsel.py <input type="file" accept=".py"></label>.
    This browser keeps it; nothing is sent.</p><ul>${rows.join("")}</ul>`;
}

function countExercises(byChapter) {
  const box = document.querySelector("details.yours"); // its place is in the page

  function show() {
    box.innerHTML = strip(byChapter);
    document.querySelectorAll("label.solved input").forEach((input) => {
      input.checked = solved().includes(input.value);
    });
  }

  function keep(names) {
    store(SOLVED, [...new Set(names)]);
    show();
  }

  box.addEventListener("change", async ({target}) => {
    const text = await target.files[0].text();
    const found = [...text.matchAll(/^# exercise: ([\w-]+)$/gm)].map((m) => m[1]);
    keep([...solved(), ...found]);
  });
  Object.values(byChapter).flat().forEach((name) => {
    const exercise = document.getElementById(`ex-${name}`);
    if (!exercise) { return; }
    const label = Object.assign(document.createElement("label"), {className: "solved"});
    label.innerHTML = `<input type="checkbox" value="${name}"> solved`;
    exercise.append(label);
    label.addEventListener("change", ({target}) => keep(
      target.checked ? [...solved(), name] : solved().filter((other) => other !== name),
    ));
  });
  show();
}

document.querySelectorAll(".guess.admonition").forEach((box, i) => {
  askGuess(box, `${pageName}-${i}`, answerOf(box));
});
countGuesses();
document.querySelectorAll("#attnsel-exercises").forEach(({textContent}) => {
  countExercises(JSON.parse(textContent));
});
