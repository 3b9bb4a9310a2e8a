// A slider and a button that go through frames.
function frames(root) {
  const slider = root.querySelector("input"), output = root.querySelector("output");
  const button = root.querySelector("button");
  const all = root.querySelectorAll(".frame");
  let timer = null;
  function show() {
    all.forEach((frame, i) => { frame.hidden = i !== Number(slider.value); });
    output.textContent = all[slider.value].dataset.label;
    slider.setAttribute("aria-valuetext", output.textContent);
  }
  function stop() {
    clearInterval(timer); timer = null; button.textContent = "Play";
  }
  slider.addEventListener("input", () => { stop(); show(); });
  button.addEventListener("click", () => {
    if (timer) { stop(); return; }
    if (Number(slider.value) === all.length - 1) { slider.value = 0; show(); }
    button.textContent = "Pause";
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1; show();
      if (Number(slider.value) === all.length - 1) { stop(); }
    }, 700);
  });
  show();
  tips(root);
}
