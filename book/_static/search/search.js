// The search: MiniSearch finds entries written by `tools/site/search.py`, and the results
// appear below the field. `attnsel.js` loads this script when a reader focuses the field.
/* global MiniSearch, Stemmer, searched */
window.attnselSearch = (() => {
  const GREEK = Object.fromEntries(("αalpha βbeta γgamma δdelta εepsilon ζzeta ηeta "
    + "θtheta ιiota κkappa λlambda μmu νnu ξxi οomicron πpi ρrho σsigma ςsigma τtau "
    + "υupsilon φphi χchi ψpsi ωomega ∇nabla ∞infinity").split(" ")
    .map((word) => [word[0], word.slice(1)]));
  const LETTER = new RegExp(`[${Object.keys(GREEK).join("")}]`, "gu");
  const WORD = /[\p{L}\p{N}_]+(?:\.\d+)*/gu;
  const stopwords = new Set(searched.stopwords);
  const stemmer = new Stemmer();
  const KINDS = {page: "Page", section: "Section", result: "Result", symbol: "Symbol"};
  // The order of entries with the same name; every other kind is code.
  const ORDER = ["result", "symbol", "page", "section"];
  const MOST = 30;
  const BEFORE = 12;
  const AROUND = 34; // words of a snippet, and words before the first match

  // Treat η, \eta and eta as equal, and ignore case and mathematical fonts.
  const plain = (text) => text.normalize("NFKC").toLowerCase()
    .replace(LETTER, (letter) => GREEK[letter]).replace(/[\\{}$]/g, "");

  // The key of a whole name; for example, eta_0, eta0 and "eta 0" have the same key.
  const key = (text) => plain(text).replace(/\(.*/, "").replace(/(\p{L})(\d)/gu, "$1 $2")
    .replace(/[^\p{L}\p{N}.⋆*⊤]+/gu, " ").trim();

  // Reduce a word to its stem, in American spelling; a name in code also gives its parts.
  const stem = (word) => stemmer.stemWord(word
    .replace(/ys(e[drs]?|ing|ers?)$/, "yz$1")
    .replace(/is(e[drs]?|ing|ers?|ations?|able)$/, "iz$1").replace(/our(s?|ed|ing|al)$/, "or$1")
    .replace(/mata$/, "ma").replace(/([^aeiou])ae$/, "$1a"));
  const terms = (word) => {
    const parts = word.split("_").filter((part) => part.length > 1);
    const known = word.includes("_") ? [word, ...parts.map(stem)] : [stem(word)];
    return known.filter((term) => !stopwords.has(term));
  };
  const words = (text) => plain(text).match(WORD) || [];

  const entries = searched.entries.map((entry, id) => ({...entry, id}));
  const named = new Map();
  entries.forEach((entry) => {
    // A reader may also search for α_s as alpha.
    const short = entry.kind === "symbol" ? entry.names.map((n) => n.split(/[_^(]/)[0]) : [];
    new Set([...entry.names, ...short, ...entry.aliases || []].map(key)).forEach((name) => {
      if (name) { named.set(name, [...(named.get(name) || []), entry]); }
    });
  });
  // A name in code has a dot or underscore inside, brackets, or a capital after a letter.
  const CODE = /\w[._]\p{L}|\(|\p{Ll}\p{Lu}/u;
  const isCode = ({kind}) => !ORDER.includes(kind);
  const rank = (entry, asksCode) => (isCode(entry) && !asksCode
    ? ORDER.length : ORDER.indexOf(entry.kind));

  // Functions come after explanations, unless the query is code, and lists of claims come
  // last.
  const KIND = {page: 1.5, result: 1.3};
  function weight({kind, page}, asksCode) {
    if (page.startsWith("book/claims")) { return 0.2; }
    return page.startsWith("book/package") && !asksCode ? 0.4 : KIND[kind] || 1;
  }
  const index = new MiniSearch({
    fields: ["names", "aliases", "title", "text"],
    extractField: (entry, field) => (field === "names" || field === "aliases"
      ? (entry[field] || []).join(" ") : entry[field]),
    tokenize: words,
    processTerm: terms,
    searchOptions: {
      boost: {names: 3, aliases: 3, title: 3},
      prefix: (term, i, all) => i === all.length - 1 && term.length > 2,
      weights: {prefix: 0.4, fuzzy: 0.3},
      combineWith: "AND",
    },
  });
  index.addAll(entries);

  // Try exact words first, then words with a wrong letter, then only some of the words.
  const WAYS = [{}, {fuzzy: (term) => (term.length > 3 ? 0.2 : false)}];
  WAYS.push({...WAYS[1], combineWith: "OR"});

  // Return entries, best first, each with the terms in it that answer the query.
  function find(query) {
    const asksCode = CODE.test(query);
    const written = query.trim().replace(/\(.*/, "");  // report() is not Report
    const isOther = ({names}) => !names.includes(written);
    const first = [...named.get(key(query)) || []].sort((a, b) =>
      rank(a, asksCode) - rank(b, asksCode) || isOther(a) - isOther(b) || a.id - b.id);
    const boostDocument = (id) => weight(entries[id], asksCode);
    const found = WAYS.reduce((all, how) => (all.length ? all
      : index.search(query, {...how, boostDocument})), []);
    const matched = new Map(found.map(({id, terms: known}) => [id, known]));
    const rest = found.map(({id}) => entries[id]).filter((entry) => !first.includes(entry));
    return [...first, ...rest].slice(0, MOST)
      .map((entry) => ({entry, terms: new Set(matched.get(entry.id))}));
  }

  // Return an element with its content.
  function element(kind, content, className) {
    const made = document.createElement(kind);
    made.append(...[content].flat());
    if (className) { made.className = className; }
    return made;
  }

  // Return some words of a text around the first match; matches are in <mark>.
  function snippet(text, found) {
    const all = text.split(" ");
    const isFound = (word) => words(word).flatMap(terms).some((term) => found.has(term));
    const start = Math.max(0, all.findIndex(isFound) - BEFORE);
    const part = all.slice(start, start + AROUND)
      .flatMap((word) => [isFound(word) ? element("mark", word) : word, " "]);
    return [start ? "… " : "", ...part, start + AROUND < all.length ? "…" : ""];
  }

  const root = document.documentElement.dataset.content_root || "./";
  const pages = new Map(entries.filter(({kind}) => kind === "page")
    .map(({page, title}) => [page, title]));
  function answer({entry, terms: found}) {
    const {kind, page, anchor, title, text} = entry;
    const link = element("a", KINDS[kind] ? title : element("code", title));
    link.href = `${root}${page}${anchor ? `#${anchor}` : ""}`;
    const where = kind === "page" ? "" : ` in ${pages.get(page)}`;
    return element("li", [link, element("span", `${KINDS[kind] || kind}${where}`, "where"),
      element("p", snippet(text, found))]);
  }

  // Show the answers below a field, as a list in which the arrow keys move.
  function attach(field) {
    const state = element("p", "");
    state.setAttribute("role", "status");
    const list = element("ol", []);
    const place = element("div", [state, list], "search-found");
    field.form.after(place);
    const show = () => {
      const query = field.value.trim();
      const found = query ? find(query) : [];
      const count = found.length < MOST ? found.length : `The first ${MOST}`;
      state.textContent = found.length
        ? `${count} ${found.length === 1 ? "place" : "places"} in the book`
        : `Nothing in the book answers “${query}”.`;
      list.replaceChildren(...found.map(answer));
      place.hidden = !query;
    };
    const go = (event) => {
      const stops = [field, ...list.querySelectorAll("a")];
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      const next = step && stops[stops.indexOf(document.activeElement) + step];
      if (next) {
        event.preventDefault();
        next.focus();
      }
    };
    field.addEventListener("input", show);
    field.addEventListener("keydown", go);
    list.addEventListener("keydown", go);
    // Close the dialog, because an answer may be on the same page behind it.
    list.addEventListener("click", ({target}) => {
      if (target.closest("a")) { field.closest("dialog")?.close(); }
    });
    show();
  }

  return {find, attach};
})();
