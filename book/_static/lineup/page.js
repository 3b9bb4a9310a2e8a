// The line-up in the page: cards, bets and the score; a worker trains and draws.
/* global KINDS, fetchReviews, letterOf, on, onPoints, percent, resultText, unable, workerFor */
const GAME = 5;  // bets

function lineup(root) {
  const part = (selector) => root.querySelector(selector);
  const parts = (selector) => [...root.querySelectorAll(selector)];
  const canvases = parts("canvas"), bets = parts(".bet"), said = part(".said");
  const game = {number: 0, question: "labels", won: [], first: 0, view: 0, open: false};
  let worker = null;
  const send = (name, content) => worker?.send(name, content);

  const linked = () => {
    const address = new URLSearchParams(location.hash.slice(1));
    const ask = address.get("ask");
    return {number: Number(address.get("round")), ask: ask in KINDS ? ask : "labels"};
  };
  const addressOf = (number, question) =>
    `#round=${number}${question === "labels" ? "" : `&ask=${question}`}`;

  function play(number, question) {
    if (game.won.length === GAME) { game.won = []; }
    if (!game.won.length) { game.first = number; }
    Object.assign(game, {number, question, open: false, view: 0});
    root.dataset.question = question;
    part(".asked").textContent = part(`[data-asks=${question}]`).textContent;
    bets.forEach((button) => { button.disabled = true; });
    root.classList.remove("open", "seen");
    parts(".model").forEach((card) => card.classList.remove("right"));
    parts(".kind, .accuracy, .described, .point").forEach((place) => {
      place.textContent = "";
    });
    canvases.forEach((canvas) => canvas.removeAttribute("tabindex"));
    part(".after").hidden = true;
    part(".link").href = addressOf(number, question);
    part(".link").textContent = `Round ${number}`;
    part(".same").ariaPressed = "false";
    tally();
    say([part(".training").textContent]);
    send("begin", {number, question});
  }

  // Show a mark for each bet of this game.
  function tally() {
    const {won} = game, right = won.filter(Boolean).length;
    parts(".bets i").forEach((mark, k) => {
      mark.className = k in won ? won[k] ? "won" : "lost" : "";
    });
    part(".score-line").textContent = game.open ? `You were right in ${right} of ${won.length} bets.`
      : `This is bet ${won.length + 1} of ${GAME}.`;
    part(".result").hidden = won.length < GAME;
    part(".result output").textContent = `${resultText(won, game.question)} ${
      location.href.split("#")[0]}${addressOf(game.first, game.question)}`;
    part(".next").textContent = won.length === GAME ? "Five more" : "Two new models";
  }

  const line = (text, className = "") =>
    Object.assign(document.createElement("p"), {textContent: text, className});
  const say = (texts) => said.replaceChildren(...texts.map((text, k) =>
    line(text, game.open && k < 2 ? "first" : "")));

  // Handle messages of the worker: an accuracy, the end of a training, an answer, a word.
  function hear({number, accuracy, described, answer, kinds, texts, unseen, point, same}) {
    if (number !== game.number) { return; }
    if (accuracy !== undefined) {
      parts(".accuracy").forEach((place) => {
        place.textContent = `${percent(accuracy)} correct`;
      });
    }
    if (described) {
      parts(".described").forEach((place, k) => { place.textContent = described[k]; });
      bets.forEach((button) => { button.disabled = false; });
      say([part(".ready").textContent]);
    }
    if (kinds) { settle(answer, kinds, texts); }
    if (unseen) { reveal(texts, unseen); }
    if ((point ?? same) !== undefined) { part(".point").textContent = point ?? same; }
  }

  function settle(answer, kinds, {first}) {
    root.classList.add("open");
    parts(".kind").forEach((place, k) => { place.textContent = kinds[k]; });
    parts(".model")[answer].classList.add("right");
    Object.assign(game, {open: true, view: 1, won: [...game.won, game.bet === answer]});
    part(".back").textContent = part(".back").dataset.there;
    tally();
    say([first]);
  }

  function reveal({first, right, surprise, because, more}, unseen) {
    root.classList.add("seen");
    parts(".accuracy").forEach((place, k) => {
      place.innerHTML = `<b>${percent(unseen[k])}</b> of new reviews`;
    });
    say([first, surprise, because, right]);
    if (game.question === "labels") { said.children[2].append(" ", part(".law").cloneNode(true)); }
    part(".more div").replaceChildren(...more.map((text) => line(text)));
    part(".after").hidden = false;
    canvases.forEach((canvas) => { canvas.tabIndex = 0; });
  }

  async function start() {
    said.textContent = part(".loading").textContent;
    if (unable()) { root.classList.add("cannot"); return; }
    try {
      const stored = await fetchReviews("lineup/imdb.js");
      worker = workerFor(part(".pair"), "lineup", hear);
      send("load", {stored, rounds: JSON.parse(root.dataset.rounds)});
    } catch ({message}) {
      said.textContent = `The reviews could not be loaded (${message}). Load the page again.`;
      return;
    }
    const {number, ask} = linked();
    play(number > 0 ? number : 1 + Math.floor(1000 * Math.random()), ask);
  }

  bets.forEach((button, k) => on(button, "click", () => {
    game.bet = k; said.focus({preventScroll: true});
    bets.forEach((each) => { each.disabled = true; });
    send("bet", k);
  }));
  // Start another round: put its number into the address, and scroll to its cards.
  parts("[data-next]").forEach((button) => on(button, "click", () => {
    const {next} = button.dataset, number = game.number + 1;
    history.replaceState(null, "", addressOf(number, next));
    play(number, next);
    part(".tally").focus({preventScroll: true});
    [".pair", ".tally"].forEach((name) => part(name).scrollIntoView({block: "nearest"}));
  }));
  const view = (to) => {
    part(".pair").scrollIntoView();
    const button = part(".back");
    game.view = to;
    button.textContent = button.dataset[to ? "there" : "here"];
    send("view", to);
  };
  on(part(".back"), "click", () => { view(1 - game.view); });
  on(part(".same"), "click", ({currentTarget: button}) => {
    const isSame = button.ariaPressed !== "true";
    button.ariaPressed = String(isSame);
    send("same", isSame);
    view(isSame ? 0 : 1);
  });
  on(part(".copy"), "click", async ({currentTarget: button}) => {
    await navigator.clipboard?.writeText(part(".result output").textContent).catch(() => {});
    button.textContent = navigator.clipboard ? "Copied" : "Select the text to copy it";
  });
  on(window, "hashchange", () => {
    const {number, ask} = linked();
    if (worker && number > 0) { play(number, ask); }
  });
  canvases.forEach((canvas, k) => {
    onPoints(canvas, (x, y) => { if (game.open) { send("near", {k, x, y}); } },
      (by) => send("move", {k, by}));
  });
  // Load nothing before the line-up is in view.
  const watch = new IntersectionObserver((entries) => {
    if (entries.some(({isIntersecting}) => isIntersecting)) { watch.disconnect(); start(); }
  });
  watch.observe(part(".pair"));
}
