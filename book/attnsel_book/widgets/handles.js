// Handles in a picture of a plane. The plane extends from [left, top] by `size`; the
// picture has `pixels`. Handles are dragged or moved by arrow keys, and stay inside.
/* global on, onKeys */
const pixelsOf = ([left, top, size], pixels, [x, y]) =>
  [x - left, top - y].map((way) => (pixels * way / size).toFixed(1));

// Return a function that places a handle; `moved` receives the point to move it to.
function handleIn(frame, pixels, element, moved) {
  const [left, top, size, moves = 60] = frame;
  let at = [left, top];
  const move = ([x, y]) => moved([Math.max(left, Math.min(left + size, x)),
    Math.max(top - size, Math.min(top, y))]);
  on(element, "pointerdown", (event) => {
    element.setPointerCapture(event.pointerId); event.preventDefault(); element.focus();
  });
  on(element, "pointermove", ({pointerId, clientX, clientY}) => {
    if (!element.hasPointerCapture(pointerId)) { return; }
    const box = element.ownerSVGElement.getBoundingClientRect();
    move([left + (clientX - box.left) / box.width * size,
      top - (clientY - box.top) / box.height * size]);
  });
  onKeys(element, {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
    ArrowDown: [0, -1]}, (way) => move(way.map((c, i) => at[i] + c * size / moves)));
  return (point) => {
    at = point;
    const words = point.map((c) => c.toFixed(2));
    element.setAttribute("transform", `translate(${pixelsOf(frame, pixels, point)})`);
    element.setAttribute("aria-valuenow", words[0]);
    element.setAttribute("aria-valuetext", words.join(", "));
  };
}
