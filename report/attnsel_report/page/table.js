// The table of all results, filled when its fold opens. A click sorts it, and words filter
// it.
(() => {
  const PAGE = 200;
  const show = (box) => {
    const data = JSON.parse(box.querySelector("script").textContent);
    const body = box.querySelector("tbody");
    const field = box.querySelector("input");
    const more = box.querySelector("button.more");
    const count = box.querySelector("output");
    let rows = data.rows, column = -1, down = false, shown = PAGE;

    const cell = (value, kind) => {
      if (value === null) return "–";
      if (kind === "lean") return (value >= 0.005 ? "+" : "") + (value.toFixed(2) * 1).toFixed(2);
      if (kind === "share") return Math.round(100 * value) + "%";
      if (kind === "q" && value > 0 && value < 0.001) return value.toExponential(0);
      if (kind === "q") return value > 0 ? value.toFixed(3) : "0";
      return kind === "count" ? value.toLocaleString("en") : value;
    };
    const line = (row) => {
      const tr = document.createElement("tr");
      row.forEach((value, i) => {
        const td = document.createElement(i === 1 ? "th" : "td");
        if (data.kinds[i] === "name") [td.className, td.dir] = ["left", "auto"];
        td.textContent = cell(value, data.kinds[i]);
        tr.append(td);
      });
      return tr;
    };
    const draw = () => {
      body.replaceChildren(...rows.slice(0, shown).map(line));
      more.hidden = shown >= rows.length;
      count.textContent = `${rows.length.toLocaleString("en")} rows`;
    };
    const choose = () => {
      const word = field.value.trim().toLowerCase();
      rows = data.rows.filter((row) => row[1].toLowerCase().includes(word));
      if (column >= 0) {
        const sign = down ? -1 : 1;
        rows.sort((one, other) => {
          const [a, b] = [one[column], other[column]];
          if (a === null || b === null) return (a === null) - (b === null);
          return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
        });
      }
      shown = PAGE;
      draw();
    };
    box.querySelectorAll("thead button").forEach((head, i) => {
      head.addEventListener("click", () => {
        down = column === i && !down;
        column = i;
        box.querySelectorAll("thead th").forEach((th, j) => {
          th.setAttribute("aria-sort", j !== i ? "none" : down ? "descending" : "ascending");
        });
        choose();
      });
    });
    field.addEventListener("input", choose);
    more.addEventListener("click", () => { shown += PAGE; draw(); });
    draw();
  };
  for (const box of document.querySelectorAll(".all")) {
    box.closest("details").addEventListener("toggle", () => show(box), { once: true });
  }
})();

// Folds cannot be opened on paper, so they are opened for printing and closed after it.
(() => {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const box of folded) box.open = true;
  });
  addEventListener("afterprint", () => {
    for (const box of folded) box.open = false;
  });
})();
