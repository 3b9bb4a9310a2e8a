// Optimizers. Each returns a function that updates a part of a parameter in place: the
// entries of x from index `at` on, by a gradient.
const optimizers = {
  gd: (rate) => (x, gradient, at) =>
    gradient.forEach((g, k) => { x[at + k] -= rate * g; }),
  sign: (rate) => (x, gradient, at) =>
    gradient.forEach((g, k) => { x[at + k] -= rate * Math.sign(g); }),
  // As torch.optim.Adam: betas .9 and .999, eps 1e-8.
  adam: (rate, size) => {
    const mean = new Float32Array(size), square = new Float32Array(size);
    let step = 0;
    return (x, gradient, at) => {
      step += at === 0;  // a step begins with the first row
      const unbiased = rate / (1 - 0.9 ** step), scale = 1 / Math.sqrt(1 - 0.999 ** step);
      gradient.forEach((g, k) => {
        const i = at + k, m = mean[i] + 0.1 * (g - mean[i]);
        const q = square[i] + 0.001 * (g * g - square[i]);
        mean[i] = m; square[i] = q;
        x[i] -= unbiased * m / (Math.sqrt(q) * scale + 1e-8);
      });
    };
  },
};
