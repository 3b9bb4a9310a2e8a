// A slider and a button for a sequence of frames.
/* global clean, on, tips */
function frames(root, {title}) {
  const all = [...root.children], last = all.length - 1;
  root.insertAdjacentHTML("afterbegin", `<div class="bar"><label>${clean(title)}
    <input type="range" max="${last}"></label><output></output>
    <button type="button">Play</button></div>`);
  const [slider, text, button] = root.querySelectorAll(".bar :is(input,output,button)");
  let timer = null;
  function show(at) {
    slider.value = at;
    all.forEach((frame, i) => { frame.hidden = i !== at; });
    text.textContent = all[at].dataset.label;
    slider.setAttribute("aria-valuetext", text.textContent);
  }
  function stop() { clearInterval(timer); timer = null; button.textContent = "Play"; }
  on(slider, "input", () => { stop(); show(Number(slider.value)); });
  on(button, "click", () => {
    if (timer) { stop(); return; }
    let at = slider.value % (last || 1);  // from the end, start over
    show(at); button.textContent = "Pause";
    timer = setInterval(() => {
      at = Math.min(at + 1, last); show(at);
      if (at === last) { stop(); }
    }, 700);
  });
  show(all.findIndex((frame) => !frame.hidden));
  tips(root);
}
