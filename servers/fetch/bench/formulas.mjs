// How many formulas of a page arrive as TeX that draws the same: our Markdown, readability with turndown, and defuddle. The pages
// are made in the run, by the programs that web pages use: each has the same formulas, whose TeX is known.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peers } from "../../../scripts/lib/bench-kit.mjs";
import { NAMES, PEERS, Pipeline } from "./lib/pipeline.mjs";

export const title = "Fetch: formulas as TeX";

const DRAWERS = { katex: "0.19.1" };

const TEX = String.raw`
E=mc^2
x_1
a^{b_c}
2^{2^n}
\frac{a}{b}
\dfrac{1}{2}
\sqrt{x^2+y^2}
\sqrt[3]{x}
\alpha+\beta
f'(x)
x_{n+1}^{2k}
\sum_{i=1}^{n} i^2
\prod_{k=1}^\infty (1-q^k)
\int_0^\infty e^{-x^2}=\frac{\sqrt{\pi}}{2}
\oint_C
\lim_{x\to 0}\frac{\sin x}{x}=1
\max_{x} f
\bigcup_{i} A_i
\begin{pmatrix} a & b \\ c & d \end{pmatrix}
\begin{bmatrix}1&0\\0&1\end{bmatrix}
\begin{cases} x & x>0 \\ -x & x\le 0 \end{cases}
\left(\frac{a}{b}\right)^n
\left|\frac{a}{b}\right|
\binom{n}{k}
\mathbb{R}^n
\mathcal{L}(\theta)
\mathbf{v}\cdot\mathbf{w}
\mathfrak{g}
\boldsymbol{\mu}
\hat{\theta}
\overline{AB}
\vec{F}=m\vec{a}
\tilde{x}
\widehat{AB}
\underbrace{a+b}_{n}
\overset{?}{=}
\xrightarrow{f}
\{x\in A: x\neq 0\}
\nabla\times\mathbf{E}=-\frac{\partial \mathbf{B}}{\partial t}
A\subseteq B\cup C
p(y\mid x)
O(n\log n)
\lfloor x\rfloor
\text{if } x>0
100\%
A^T
\forall\epsilon>0
x\mapsto x^2
a*b*c
\boxed{x}
{}_2F_1
\hbar\omega
e^{i\pi}+1=0
`
  .trim()
  .split("\n");

/** @typedef {(tex: string) => string} Drawer */

/** @param {(path: string) => string} at @returns {Promise<Record<string, Drawer>>} */
async function drawers(at) {
  const require = createRequire(join(at(""), "anchor.js"));
  const katex = require(/** @type {string} */ ("katex"));
  /** @param {string} text */
  const escaped = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
  /** @type {Drawer} */
  const mathml = (tex) =>
    katex
      .renderToString(tex, { output: "mathml", throwOnError: false })
      .replace(/^<span[^>]*>|<annotation[\s\S]*?<\/annotation>|<\/span>$/g, "");
  return {
    KaTeX: (tex) => katex.renderToString(tex, { throwOnError: false }),
    "MathJax 2, drawn": (tex) =>
      `<span class="MathJax_Preview"></span><span class="MathJax"><nobr><span class="math">${escaped(tex)}</span></nobr></span><script type="math/tex">${tex}</script>`,
    "MathJax 2, not drawn": (tex) => `<script type="math/tex">${tex}</script>`,
    Wikipedia: (tex) =>
      `<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle ${escaped(tex)}}">${mathml(tex)}</math></span><img src="/x.svg" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle ${escaped(tex)}}"></span>`,
    "images, Sphinx": (tex) => `<img class="math" src="_images/math/1.png" alt="${escaped(tex)}">`,
    "images, Doxygen": (tex) =>
      `<img class="formulaInl" alt="$ ${escaped(tex)} $" src="form_1.png">`,
    "text \\(…\\)": (tex) =>
      `<span class="math notranslate nohighlight">\\(${escaped(tex)}\\)</span>`,
    "text $…$": (tex) => `$${escaped(tex)}$`,
  };
}

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const at = await peers({ ...PEERS, ...DRAWERS });
  const katex = createRequire(join(at(""), "anchor.js"))(/** @type {string} */ ("katex"));
  /**
   * How KaTeX draws a formula, without spacing and grouping, which MathML doesn't always have. Undefined if it is not TeX.
   *
   * @param {string} tex @returns {string | undefined}
   */
  const drawn = (tex) => {
    try {
      return katex
        .renderToString(tex, { output: "mathml", strict: false })
        .replace(
          /<annotation[\s\S]*?<\/annotation>|<mspace[^<>]*>(?:<\/mspace>)?|<mo[^<>]*>\u2061<\/mo>/g,
          "",
        )
        .replace(/<\/?(?:mrow|mstyle|mpadded)[^<>]*>/g, "")
        .replace(/ (?!mathvariant|linethickness)[\w-]+="[^"]*"/g, "");
    } catch {
      return undefined;
    }
  };
  /** @param {string} markdown @param {string} tex @param {number} index */
  const isKept = (markdown, tex, index) => {
    const text = new RegExp(`F${index}:\\s*(.*?)\\s*:F${index}`, "s").exec(markdown)?.[1];
    const inner = /^\$+(.*?)\$+$/s.exec(text?.replace(/\s+/g, " ") ?? "")?.[1];
    return inner !== undefined && drawn(inner) === drawn(tex);
  };
  const names = /** @type {(keyof typeof NAMES)[]} */ (Object.keys(NAMES));
  const pipelines = names.map((name) => new Pipeline(name, at("")));
  const script = '<script src="https://cdn.example/mathjax/tex.js"></script>';
  const rows = [];
  const total = names.map(() => 0);
  for (const [how, draw] of Object.entries(await drawers(at))) {
    const lines = TEX.map(
      (tex, index) => `<p>The mill has a wheel and a river. F${index}: ${draw(tex)} :F${index}</p>`,
    );
    const html = `<!doctype html><html><head><title>Mills</title>${script}</head><body><article><h1>Mills</h1>${lines.join("\n")}</article></body></html>`;
    const row = [];
    for (const [index, pipeline] of pipelines.entries()) {
      const markdown = (await pipeline.markdown(html, "https://mill.example/")) ?? "";
      const count = TEX.filter((tex, number) => isKept(markdown, tex, number)).length;
      total[index] = (total[index] ?? 0) + count;
      row.push(`${count} of ${TEX.length}`);
    }
    rows.push([how, ...row]);
  }
  for (const pipeline of pipelines) await pipeline.close();
  const all = rows.length * TEX.length;
  rows.push(["all", ...total.map((count) => `${((100 * count) / all).toFixed(1)} %`)]);
  report({
    title: "Formulas kept, by how the page shows them",
    columns: ["", ...names.map((name) => NAMES[name])],
    rows,
    notes: [
      `Kept is what is in dollar signs, and draws the same in KaTeX ${DRAWERS.katex} as the original. MathML without TeX is not measured: only its text is left.`,
    ],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    report: ({ title: name, columns, rows }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n`,
      ),
  });
}
