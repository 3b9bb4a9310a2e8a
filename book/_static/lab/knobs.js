// The knobs of the two tabs: what each is called, what it does, the values it takes (true
// and false if it is a switch) and the one it starts with; as a form and as a link.
const onOff = [false, true], SEEDS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const KNOBS = {
  reviews: [
    ["rate", "step size", "How far a step moves the parameters: Adam and sign want small "
      + "steps, gradient descent larger ones.",
    [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100], 0.01],
    ["optimizer", "optimizer", "Gradient descent follows the slope; Adam moves each number "
      + "by about the step size; sign by exactly that.", ["adam", "gd", "sign"], "adam"],
    ["d", "dimension d", "How many numbers describe a word: its embedding.",
      [16, 64, 256], 64],
    ["E", "train E", "The embeddings of the words.", onOff, true],
    ["p", "train p", "The query: what attention looks for.", onOff, true],
    ["v", "train v", "The output: what a word says about the label.", onOff, true],
    ["uniform", "uniform attention", "p is 0 and stays so: all words count alike.", onOff,
      false],
    ["shuffle", "shuffle the labels", "Training reviews get each other's labels: there is "
      + "nothing left to learn.", onOff, false],
    ["planted", "plant a word (%)", `Write “${PLANTED}” into so many of the positive `
      + "training reviews, and into no other.", [0, 1, 5, 20, 50, 100], 0],
    ["reviews", "training reviews", "Few are easily learned by heart.",
      [100, 200, 500, 1000, 2000], 2000],
    ["least", "occurrences", "A word is kept if it occurs at least so often in the "
      + "training reviews.", [10, 20, 50, 100, 200], 10],
    ["seed", "seed", "Another random start, and other shuffled labels.", SEEDS, 0],
  ],
  stages: [
    ["eta", "first step η₀", "The size of the one step on E, before p moves.",
      [10, 20, 50, 100, 150, 200, 300, 500, 1000, 2000, 3000, 5000, 10000, 20000, 30000],
      3000],
    ["d", "dimension d", "How many numbers describe a token: its embedding.",
      [64, 256, 1024, 2048], 2048],
    ["seed", "seed", "Other sequences and another random start.", SEEDS, 0],
  ],
};

// The values of all knobs: those that an address names, if there are such values.
function knobsFrom(kind, address) {
  return Object.fromEntries(KNOBS[kind].map(([name, , , values, usual]) => {
    const found = values.find((value) => String(value) === address.get(name));
    return [name, found ?? usual];
  }));
}

// The knobs that differ from their usual values, with the ones they have.
const changed = (kind, knobs) => KNOBS[kind].map(([name]) => [name, knobs[name]]).filter(
  ([, value], k) => value !== KNOBS[kind][k][4]);

function inWordsOf(kind, knobs) {
  const labels = new Map(KNOBS[kind]);
  const told = changed(kind, knobs).map(([name, value]) => `${labels.get(name)}: ${
    typeof value === "boolean" ? (value ? "yes" : "no") : value.toLocaleString("en")}`);
  return told.join(", ") || "as the book has them";
}

function knobForm(kind, knobs) {
  return KNOBS[kind].map(([name, label, told, values]) => {
    const chosen = values.indexOf(knobs[name]);
    const choices = values.map((value, i) =>
      `<option ${i === chosen ? "selected" : ""}>${value.toLocaleString("en")}</option>`);
    const control = values === onOff
      ? `<input type="checkbox" name="${name}" ${knobs[name] ? "checked" : ""}>`
      : name === "eta" ? `<input type="range" name="${name}" max="${values.length - 1}"
        value="${chosen}" aria-valuetext="${knobs[name]}">
        <output>${knobs[name].toLocaleString("en")}</output>`
      : `<select name="${name}">${choices.join("")}</select>`;
    return `<div><label><span>${label}</span>${control}</label>
      <small>${told}</small></div>`;
  }).join("");
}

// The value that a control of the form stands at.
function valueOf(kind, control) {
  const [, , , values] = KNOBS[kind].find(([name]) => name === control.name);
  return values === onOff ? control.checked : values[control.type === "range"
    ? control.value : control.selectedIndex];
}
