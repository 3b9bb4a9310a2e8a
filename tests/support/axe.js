// What axe finds on an open page that is serious, for `axe.py`.
/* global axe */
// What a rule finds is as grave as the rule says: those that find nothing serious rest.
// Of texts that look alike, the first is enough for their contrast, also to what is
// around a link.
axe.configure({rules: axe._audit.rules
  .filter((rule) => ["minor", "moderate"].includes(rule.impact))
  .map(({id}) => ({id, enabled: false}))
  .concat({id: "color-contrast", selector: "[data-look=new]"},
    {id: "link-in-text-block", selector: "a[href]:not([data-look=seen])"})});

// Axe takes most of its time for the contrast of each word of code and each link. Texts
// are alike if they have the same colour, size and weight on the same grounds all the
// way up, next to text of the same colour. Most elements of a page are in formulas and
// code: as long as axe looks, the first sign of a formula, which has the colour of all
// of them, stands for it, and words of code that look like others are no elements.
window.seenByAxe = async (known) => {
  const changed = [];
  const hold = (e, parts) => {
    changed.unshift([e, [...e.childNodes]]);
    e.replaceChildren(...parts);
  };
  document.querySelectorAll("math").forEach((formula) =>
    hold(formula, [formula.querySelector("mi, mn, mo, mtext").cloneNode(true)]));
  const seen = new Set(known);
  const below = new Map([[null, ""]]);
  const bare = "rgba(0, 0, 0, 0) none 1 none normal static auto none auto none";
  for (const e of document.querySelectorAll("*")) {
    const s = getComputedStyle(e);
    const ground = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter,
      s.mixBlendMode, s.position, s.clip, s.clipPath, s.zIndex, s.transform].join(" ");
    below.set(e, below.get(e.parentElement) + (ground === bare ? "" : `${ground};`));
    delete e.dataset.look;
    const written = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!written || !e.checkVisibility()) { continue; }
    const look = [below.get(e), s.color, s.fontSize, s.fontWeight, s.textShadow,
      s.visibility, s.webkitTextStroke, s.textDecorationLine,
      getComputedStyle(e.parentElement).color].join();
    e.dataset.look = seen.has(look) ? "seen" : "new";
    seen.add(look);
  }
  const isAlike = (n) => n.nodeName === "SPAN" && n.dataset.look === "seen";
  document.querySelectorAll("pre").forEach((code) => hold(code,
    [...code.childNodes].map((n) => isAlike(n) ? n.textContent : n)));
  try {
    // Of rules that hold one element is named, of those that do not, each.
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return {rules: found.passes.length, looks: [...seen], serious: found.violations
      .filter(({impact}) => ["serious", "critical"].includes(impact))
      .map(({id, nodes}) => [id, ...nodes.map(({target}) => target)])};
  } finally {
    changed.forEach(([e, parts]) => e.replaceChildren(...parts));
  }
};
