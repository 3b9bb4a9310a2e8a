// Filter all claims by chapter, by source (the paper or this book) and by words.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector(".claims-filter");
  const lists = [...document.querySelectorAll("ul.claims")];
  const lines = lists.flatMap((list) => [...list.children]
    .map((line) => ({line, list, text: line.textContent.toLowerCase()})));

  function filter() {
    const {words, chapter, by} = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase().split(/\s+/);
    lines.forEach(({line, list, text}) => {
      line.hidden = !(wanted.every((word) => text.includes(word))
        && (!chapter || list.dataset.chapter === chapter)
        && (!by || line.dataset.by === by));
    });
    // Hide the heading of a chapter without matching claims.
    lists.forEach((list) => {
      list.closest("section").hidden = [...list.children].every((line) => line.hidden);
    });
    const count = lines.filter(({line}) => !line.hidden).length;
    form.querySelector("output").textContent = `${count} of ${lines.length} claims`;
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter(); // after going back, a browser restores the typed words
});
