// A reader's guess, made by a click and stored in this browser; nothing is sent.
// A box of the class "guess answer-2" has a list of options, of which the second is right.
const GUESSES = "attnsel-guesses";

// A browser may not allow storage; then there are no guesses.
function guessesMade() {
  try {
    return JSON.parse(localStorage.getItem(GUESSES)) ?? {};
  } catch {
    return {};
  }
}

function keepGuesses(guesses) {
  try {
    localStorage.setItem(GUESSES, JSON.stringify(guesses));
  } catch { /* the guess is still shown */ }
}

function askGuess(box, name, answer) {
  const right = Number(/\banswer-(\d+)/.exec(box.className)?.[1]);
  const list = box.querySelector("ol");
  if (!right || !list) { return; }
  const options = [...list.children];
  const words = options.map((option) => option.textContent.trim());
  const said = Object.assign(document.createElement("p"), {className: "your-guess"});
  said.setAttribute("role", "status");

  // Show the verdict in the answer once its fold opens, or at once if there is no fold.
  function compare() {
    const {chosen} = guessesMade()[name] ?? {};
    if (!chosen) { return; }
    const verdict = chosen === right ? "which is right" : `but the answer is option ${right}`;
    said.textContent = !answer || answer.open
      ? `You guessed option ${chosen} (${words[chosen - 1]}), ${verdict}.`
      : "Your guess is kept in this browser. The answer is below.";
    (answer?.open ? answer.querySelector("summary") : list).after(said);
    if (answer?.open) {
      list.querySelectorAll("input").forEach((input) => { input.disabled = true; });
    }
  }

  list.setAttribute("role", "radiogroup");
  list.setAttribute("aria-label", "Your guess");
  options.forEach((option, i) => {
    const input = Object.assign(document.createElement("input"), {
      type: "radio", name, checked: guessesMade()[name]?.chosen === i + 1,
    });
    input.addEventListener("change", () => {
      keepGuesses({...guessesMade(), [name]: {chosen: i + 1}});
      compare();
    });
    const label = document.createElement("label");
    label.append(input, ...option.childNodes);
    option.append(label);
    option.setAttribute("role", "none");
  });
  answer?.addEventListener("toggle", compare);
  compare();
}
