// Sets formulas: a line of JSON with `tex` and `display` in, a line of JSON with `math`
// or `error` out.
const fs = require("fs");
const path = require("path");
const readline = require("readline");

const engine = fs.readFileSync(path.join(__dirname, "temml", "temml.min.js"), "utf8");
const temml = new Function(`${engine}; return temml;`)();

function set({tex, display}) {
  try {
    const options = {displayMode: display, throwOnError: true, strict: true};
    return {math: temml.renderToString(tex, {...options, wrap: display ? "none" : "tex"})};
  } catch (error) {
    return {error: error.message};
  }
}

readline.createInterface({input: process.stdin}).on("line", (line) => {
  process.stdout.write(`${JSON.stringify(set(JSON.parse(line)))}\n`);
});
