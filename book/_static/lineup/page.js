// The line-up in the page: cards, bets and the score; a worker trains and draws.
/* global KINDS, attnselLineup, fetchReviews, letterOf, on, onPoints, percent, scoreText,
   startLineup, workerFor */
const LINEUP = typeof document === "undefined" ? "" : document.currentScript.src;

function lineup(root) {
  const part = (selector) => root.querySelector(selector);
  const parts = (selector) => [...root.querySelectorAll(selector)];
  const canvases = parts("canvas"), bets = parts(".bet"), said = part(".said");
  const game = {number: 0, question: "labels", won: 0, played: 0, view: 0, open: false};
  let worker = null;
  const send = (name, content) => worker?.send(name, content);

  const linked = () => {
    const address = new URLSearchParams(location.hash.slice(1));
    return {number: Number(address.get("round")), ask: address.get("ask") ?? ""};
  };
  const addressOf = (number, question) =>
    `#round=${number}${question === "labels" ? "" : `&ask=${question}`}`;

  function play(number, question) {
    Object.assign(game, {number, question, open: false, view: 0});
    root.dataset.question = question;
    part(".asked").textContent = part(`[data-asks=${question}]`).textContent;
    bets.forEach((button, k) => {
      button.textContent = `Model ${letterOf(k)} ${
        question === "labels" ? "learned something" : "has attention"}`;
      button.disabled = true;
    });
    root.classList.remove("open");
    parts(".model").forEach((card) => card.classList.remove("right"));
    parts(".kind, .accuracy, .described, .point").forEach((place) => {
      place.textContent = "";
    });
    canvases.forEach((canvas) => canvas.removeAttribute("tabindex"));
    part(".after").hidden = true;
    part(".link").href = addressOf(number, question);
    part(".link").textContent = `Round ${number}`;
    say([part(".training").textContent]);
    send("begin", {number, question});
  }

  function say(paragraphs) {
    said.replaceChildren(...paragraphs.map((text, k) => {
      const line = document.createElement("p");
      line.textContent = text;
      line.className = k === 0 && game.open ? "first" : "";
      return line;
    }));
  }

  // What the worker tells: the accuracy, the end of a training, an answer, a word.
  function hear({number, accuracy, described: sentences, answer, kinds, first, rest, unseen,
    point}) {
    if (number !== game.number) { return; }
    if (accuracy !== undefined) {
      parts(".accuracy").forEach((place) => {
        place.textContent = `${percent(accuracy)} correct`;
      });
    }
    if (sentences) {
      parts(".described").forEach((place, k) => { place.textContent = sentences[k]; });
      bets.forEach((button) => { button.disabled = false; });
      const hint = game.played > 2 && game.question === "labels" ? [part(".hint")] : [];
      say([part(".ready"), ...hint].map(({textContent}) => textContent));
    }
    if (first && !game.open) { settle(answer, kinds); }
    if (first) { say([first, ...rest ?? []]); }
    if (rest) {
      part(".after").hidden = false;
      canvases.forEach((canvas) => { canvas.tabIndex = 0; });
      parts(".accuracy").forEach((place, k) => {
        place.textContent = `${percent(unseen[k])} on new reviews`;
      });
    }
    if (point) { part(".point").textContent = point; }
  }

  function settle(answer, kinds) {
    root.classList.add("open");
    parts(".kind").forEach((place, k) => { place.textContent = kinds[k]; });
    game.open = true; game.view = 1; game.played += 1; game.won += game.bet === answer;
    bets.forEach((button) => { button.disabled = true; });
    parts(".model")[answer].classList.add("right");
    part(".score-line").textContent = scoreText(game.won, game.played);
    part(".back").textContent = part(".back").dataset.there;
  }

  async function start() {
    said.textContent = part(".loading").textContent;
    try {
      const address = new URL("lineup/imdb.js", LINEUP);
      const stored = await fetchReviews(address, "attnselLineupReviews");
      worker = workerFor(part(".pair"), attnselLineup, hear);
      send("load", stored);
    } catch ({message}) {
      said.textContent = `The reviews could not be loaded: ${message}. Load the page again.`;
      return;
    }
    const {number, ask} = linked();
    play(number > 0 ? number : 1 + Math.floor(1000 * Math.random()),
      ask in KINDS ? ask : "labels");
  }

  bets.forEach((button, k) => on(button, "click", () => {
    game.bet = k; bets.forEach((each) => { each.disabled = true; });
    send("bet", k);
  }));
  parts("[data-next]").forEach((button) => on(button, "click", () => {
    play(game.number + 1, button.dataset.next);
    said.focus();
  }));
  on(part(".back"), "click", ({currentTarget: button}) => {
    game.view = 1 - game.view;
    button.textContent = button.dataset[game.view ? "there" : "here"];
    send("view", game.view);
  });
  on(window, "hashchange", () => {
    const {number, ask} = linked();
    if (worker && number > 0) { play(number, ask in KINDS ? ask : "labels"); }
  });
  canvases.forEach((canvas, k) => {
    onPoints(canvas, (x, y) => { if (game.open) { send("near", {k, x, y}); } },
      (by) => send("move", {k, by}));
  });
  // Nothing is loaded before one can see it.
  const watch = new IntersectionObserver((entries) => {
    if (entries.some(({isIntersecting}) => isIntersecting)) { watch.disconnect(); start(); }
  });
  watch.observe(part(".pair"));
}

if (LINEUP) {
  document.querySelectorAll(".attnsel-lineup").forEach(lineup);
} else {
  startLineup();
}
