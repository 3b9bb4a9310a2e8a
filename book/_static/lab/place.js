// Code shared by the laboratory and the line-up, in which a worker trains and draws.
/* global attnselLab, lookOf, on */
const HERE = typeof document === "undefined" ? "" : document.currentScript.src;

// Reviews are loaded as a script that calls a function, because a page opened from disk
// may not load data.
const fetchReviews = (file) => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  window.attnselReviews = resolve;
  on(script, "error", () => reject(new Error("no connection")));
  script.src = new URL(file, HERE);
  document.head.append(script);
});

// Whether this browser cannot train, because it has no workers or they cannot draw.
const unable = () => !window.Worker || !window.OffscreenCanvas
  || !HTMLCanvasElement.prototype.transferControlToOffscreen;

// Start a worker, hand all canvases of a place to it, and tell it their sizes and the font
// of the page. Return a function that sends it a command.
function workerFor(place, kind, hear) {
  const blob = new Blob([`(${attnselLab})();`], {type: "text/javascript"});
  const worker = new Worker(URL.createObjectURL(blob));
  const canvases = [...place.querySelectorAll("canvas")];
  const send = (name, content, transferred = []) =>
    worker.postMessage([name, content], transferred);
  send("open", kind);
  on(worker, "message", ({data}) => hear(data));
  const taken = canvases.map((canvas) => canvas.transferControlToOffscreen());
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  send("show", {canvases: taken, still}, taken);
  function look() {
    if (!canvases[0].clientWidth) { return; }
    send("show", {look: {...lookOf(place),
      sizes: canvases.map(({clientWidth, clientHeight}) => [clientWidth, clientHeight])}});
  }
  const sizes = new ResizeObserver(look);
  canvases.forEach((canvas) => sizes.observe(canvas));
  return {send, end() { sizes.disconnect(); worker.terminate(); }};
}
const lookFor = (look, k) => ({...look, width: look.sizes[k][0], height: look.sizes[k][1]});
