// Which formulas does JupyterLab refuse to draw? Asks the MathJax that JupyterLab ships, from its own files.
//
//     node tools/mathjax.js FOLDER < outputs.json
//
// FOLDER is `share/jupyter/lab/static` of the environment. The input is a list of [name, MIME type, text]; the output is
// {"version": …, "formulas": how many were read, "refused": [[name, formula, why], …]}.
"use strict";
process.on("uncaughtException", error => {
  console.error(String(error)); // and not the line of JupyterLab in which it arose, which is a megabyte long
  process.exit(1);
});
globalThis.navigator ??= { appName: "Node" };
const fs = require("fs"), path = require("path"), vm = require("vm");

// Every script of JupyterLab puts its modules, functions by number, on one list. Nothing runs until a module is asked for.
function modulesOf(folder) {
  const self = {}, modules = {};
  for (const name of fs.readdirSync(folder).filter(name => /\.js$/.test(name))) {
    const code = fs.readFileSync(path.join(folder, name), "utf8");
    const list = code.slice(0, 300).match(/self\.(\w*[cC]hunk\w+)/);
    if (list && !/^main\./.test(name)) vm.runInThisContext(`(function (self) {${code}\n})`, { filename: name })(self);
  }
  for (const entries of Object.values(self)) for (const [, own] of entries) Object.assign(modules, own);
  return modules;
}

function requiring(modules) {
  const loaded = {};
  function load(number) {
    if (!(number in loaded)) {
      const module = (loaded[number] = { exports: {} });
      modules[number].call(module.exports, module, module.exports, load);
    }
    return loaded[number].exports;
  }
  load.d = (exports, own) => {
    for (const key in own) Object.defineProperty(exports, key, { enumerable: true, get: own[key] });
  };
  load.r = exports => Object.defineProperty(exports, "__esModule", { value: true });
  load.n = module => Object.assign(() => (module.__esModule ? module.default : module), { get a() { return this(); } });
  load.o = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
  load.g = globalThis;
  return load;
}

const modules = modulesOf(process.argv[2]), load = requiring(modules);

// The one module whose code has a piece of text: numbers change from version to version.
function holding(text) {
  const found = Object.keys(modules).filter(number => modules[number].toString().includes(text));
  if (!found.length) throw Error(`JupyterLab has no module with ${text}`);
  return load(found[0]);
}

const { AllPackages } = holding(".AllPackages=[");
holding(".RequireConfiguration=");
const { VERSION } = holding(".VERSION=\"3");
const { FindTeX } = holding(".FindTeX=");
const { MmlFactory } = holding(".MmlFactory=");
const { TeX } = holding(".TeX=");
const latex = holding("@@\\d+@@");
const removeMath = Object.values(latex).find(one => one.toString().includes("math:"));

// As JupyterLab sets it up in its extension for MathJax.
const options = {
  inlineMath: [["$", "$"], ["\\(", "\\)"]],
  displayMath: [["$$", "$$"], ["\\[", "\\]"]],
  processEscapes: true,
  processEnvironments: true,
};
const find = new FindTeX(options), tex = new TeX({ packages: AllPackages.concat("require"), ...options });
tex.setMmlFactory(new MmlFactory());
tex.initialize();

const SIGNS = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&#39;": "'", "&amp;": "&" };
const unescaped = text => text.replace(/&(?:lt|gt|quot|#x27|#39|amp);/g, sign => SIGNS[sign]);

// The pieces of text in which MathJax looks for formulas.
function texts(kind, source) {
  if (kind === "text/markdown") {
    const { text, math } = removeMath(source);
    return [...math.map(unescaped), text.replace(/(`+).*?\1/gs, "")];
  }
  if (kind === "text/html") return source.replace(/<(script|style|pre|code|textarea)\b.*?<\/\1>/gs, "").split(/<[^>]*>/).map(unescaped);
  return [source];
}

const known = new Map();
function refusal(item) {
  const key = `${item.display} ${item.math}`;
  if (!known.has(key)) {
    const said = [];
    const root = tex.compile({ ...item, inputData: {} }, { options: { MathItem: class {} }, outputJax: { getBBox() {} } });
    root.walkTree(node => {
      const shown = node.attributes && node.attributes.getExplicit("mathcolor");
      if (node.isKind("merror")) said.push(node.attributes.get("title") || node.attributes.get("data-mjx-error") || "error");
      if (node.isKind("mtext") && shown === "red") said.push("an unknown command");
    });
    known.set(key, said.join("; "));
  }
  return known.get(key);
}

let formulas = 0;
const refused = [];
for (const [name, kind, source] of JSON.parse(fs.readFileSync(0, "utf8")))
  for (const text of texts(kind, source)) {
    const items = find.findMath([text]);
    if (!items.length && /(?<!\\)\$/.test(text)) refused.push([name, text, "a dollar without another one"]);
    for (const item of items) {
      formulas += 1;
      const why = refusal(item);
      if (why) refused.push([name, item.math, why]);
    }
  }
process.stdout.write(JSON.stringify({ version: VERSION, formulas, different: known.size, refused }));
