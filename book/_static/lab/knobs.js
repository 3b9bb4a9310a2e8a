// The knobs of a tab, which `knobs.json` lists: in an address, in words, and in the form.
/* global KNOBS */

// The values of all knobs: those that an address names, if there are such values.
const knobsFrom = (kind, address) => Object.fromEntries(
  KNOBS[kind].map(({name, values, usual}) =>
    [name, values.find((value) => String(value) === address.get(name)) ?? usual]));

// The knobs that differ from their usual values, with the ones they have.
const changed = (kind, knobs) => KNOBS[kind].filter(({name, usual}) =>
  knobs[name] !== usual).map(({name}) => [name, knobs[name]]);

function inWordsOf(kind, knobs) {
  const told = changed(kind, knobs).map(([name, value]) => {
    const {label, values, words} = KNOBS[kind].find((knob) => knob.name === name);
    return `${label}: ${words?.[values.indexOf(value)] ?? value.toLocaleString("en")}`;
  });
  return told.join(", ") || "as the book has them";
}

// Show the knobs in the form, where a switch, a slider or a list has their values.
function setForm({elements}, kind, knobs) {
  for (const {name, values} of KNOBS[kind]) {
    const control = elements[name], at = values.indexOf(knobs[name]);
    if (control.type === "checkbox") { control.checked = at; }
    else if (control.type === "range") {
      control.value = at; control.ariaValueText = knobs[name];
      control.nextElementSibling.value = knobs[name].toLocaleString("en");
    } else { control.selectedIndex = at; }
  }
}

// The value that a control of the form stands at.
function valueOf(kind, {name, type, checked, value, selectedIndex}) {
  const {values} = KNOBS[kind].find((knob) => knob.name === name);
  return values[{checkbox: Number(checked), range: value}[type] ?? selectedIndex];
}
