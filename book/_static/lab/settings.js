// The settings of a tab, from `settings.json`, in an address, in words and in the form.
/* global SETTINGS */

// The value of a setting in an address, if it is allowed; a switch may also be 0 or 1.
const valueIn = ({name, values}, address) => values.find((value) =>
  [value, Number(value)].some((written) => String(written) === address.get(name)));

// The values of all settings, and the parts of an address that the page does not know.
const settingsFrom = (kind, address) => Object.fromEntries(SETTINGS[kind].map((setting) =>
  [setting.name, valueIn(setting, address) ?? setting.usual]));
const unknownIn = (kind, address) => [...address].filter(([key, value]) =>
  !["tab", "page", "small"].includes(key) && !LOOKS[key]?.includes(value)
    && !SETTINGS[kind].some((setting) =>
      setting.name === key && valueIn(setting, address) !== undefined));

// The view: which reviews give the leans, which words are shown, and in which order. The
// first value of each is the default.
const LOOKS = {view: ["0", "1"], words: ["0", "100"], across: ["lean", "rank", "value"]};
const looksFrom = (address) => Object.fromEntries(Object.entries(LOOKS).map(([name, values]) =>
  [name, values.find((value) => value === address.get(name)) ?? values[0]]));
const lookAddress = (looks) => String(new URLSearchParams(Object.entries(looks).filter(
  ([name, value]) => value !== LOOKS[name][0])));

// The settings that differ from their defaults, as an address and in words.
const changed = (kind, settings) => SETTINGS[kind].filter(({name, usual}) =>
  settings[name] !== usual);
const addressOf = (kind, settings) => String(new URLSearchParams(
  changed(kind, settings).map(({name}) => [name, settings[name]])));
const inWordsOf = (kind, settings) => changed(kind, settings).map(
  ({name, label, values, words}) => `${label}: ${words?.[values.indexOf(settings[name])]
    ?? settings[name].toLocaleString("en")}`).join(", ") || "default";

// Show the settings in the form, and read one from it, a list or a checkbox.
function fillForm({elements}, kind, settings) {
  for (const {name, values} of SETTINGS[kind]) {
    const at = values.indexOf(settings[name]), control = elements[name];
    control[control.type === "checkbox" ? "checked" : "selectedIndex"] = at;
  }
}
const readControl = (kind, {name, type, checked, selectedIndex}) => SETTINGS[kind].find(
  (setting) => setting.name === name).values[type === "checkbox" ? +checked : selectedIndex];
