// The scripts of a page share one scope, so each names at its head what it needs of the
// others. Libraries and stored reviews are not checked.
import js from "@eslint/js";
import globals from "globals";

const {rules} = js.configs.recommended;

export default [
  {ignores: [".venv*", "_build", "**/vendor", "**/temml", "**/imdb.js", "**/generated.js"]},
  {
    files: ["**/*.js"],
    languageOptions: {sourceType: "script", globals: globals.browser},
    rules: {
      ...rules,
      // What a script defines is for the others, and may have a name of the browser's.
      "no-unused-vars": ["error", {vars: "local"}],
      "no-redeclare": ["error", {builtinGlobals: false}],
    },
  },
  {files: ["tools/**/*.js"], languageOptions: {globals: globals.node}},
  {files: ["eslint.config.mjs"], languageOptions: {sourceType: "module"}},
];
