// A slider and a button that go through frames.
function frames(root, {title}) {
  const all = [...root.children], start = all.findIndex((frame) => !frame.hidden);
  root.insertAdjacentHTML("afterbegin", `<div class="bar"><label>${clean(title)}
    <input type="range" max="${all.length - 1}" value="${start}"></label>
    <output></output><button type="button">Play</button></div>`);
  const [slider, told, button] = root.querySelectorAll(".bar :is(input,output,button)");
  const atEnd = () => Number(slider.value) === all.length - 1;
  let timer = null;
  function show(at) {
    slider.value = at;
    all.forEach((frame, i) => { frame.hidden = i !== Number(at); });
    told.textContent = all[at].dataset.label;
    slider.setAttribute("aria-valuetext", told.textContent);
  }
  function stop() {
    clearInterval(timer); timer = null; button.textContent = "Play";
  }
  on(slider, "input", () => { stop(); show(slider.value); });
  on(button, "click", () => {
    if (timer) { stop(); return; }
    if (atEnd()) { show(0); }
    button.textContent = "Pause";
    timer = setInterval(() => {
      show(Number(slider.value) + 1);
      if (atEnd()) { stop(); }
    }, 700);
  });
  show(start);
  tips(root);
}
