import { describe, expect, it } from "vitest";
import { readMarkdown } from "./lab.ts";
import { prose } from "./pages/write.ts";

/** A page whose formula is between two words. */
const around = (formula: string): string =>
  `<main><h1>Mills</h1><p>${prose(6, 1)}</p><p>before ${formula} after</p><p>${prose(6, 2)}</p></main>`;
const katex = (tex: string, isDisplay = false): string => {
  const inner = `<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"${isDisplay ? ' display="block"' : ""}><semantics><mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics></math></span><span class="katex-html" aria-hidden="true"><span class="base"><span class="mord mathnormal">DRAWN</span></span></span></span>`;
  return isDisplay ? `<span class="katex-display">${inner}</span>` : inner;
};
const TEX = "E_1 = \\frac{m*c^2}{a_{i,j}} \\quad [x] ~ `y`";

describe("formulas are TeX, byte for byte", () => {
  it.each<[string, string, string]>([
    ["KaTeX", katex(TEX), `$${TEX}$`],
    [
      "MathJax 2, after it drew them",
      `<span class="MathJax_Preview">DRAWN</span><span class="MathJax" id="MathJax-Element-1-Frame"><nobr><span class="math">DRAWN</span></nobr></span><script type="math/tex" id="MathJax-Element-1">${TEX}</script>`,
      `$${TEX}$`,
    ],
    [
      "MathJax 2, as the page has them",
      `<script type="math/tex">% <![CDATA[\n${TEX} %]]></script>`,
      `$${TEX} %$`,
    ],
    [
      "MathJax 3 with MathML for screen readers",
      '<mjx-container class="MathJax" jax="CHTML"><mjx-math aria-hidden="true"><mjx-mi><mjx-c class="mjx-c1D465"></mjx-c></mjx-mi></mjx-math><mjx-assistive-mml><math><msub><mi>x</mi><mn>1</mn></msub></math></mjx-assistive-mml></mjx-container>',
      "$x_1$",
    ],
    [
      "MathJax 4",
      '<mjx-container class="MathJax"><mjx-math data-latex="\\alpha_1*2"></mjx-math></mjx-container>',
      "$\\alpha_1*2$",
    ],
    [
      "Wikipedia",
      '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle {\\frac {a}{b}}}"><mfrac><mi>a</mi><mi>b</mi></mfrac></math></span><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle {\\frac {a}{b}}}" src="/x.svg" aria-hidden="true"></span>',
      `$${"{\\frac {a}{b}}"}$`,
    ],
    ["Sphinx as images", '<img class="math" src="_images/math/1.png" alt="a_1*b_2">', "$a_1*b_2$"],
    ["Doxygen", '<img class="formulaInl" alt="$ a_1 * b_2 $" src="form_0.png">', "$a_1 * b_2$"],
    [
      "WordPress",
      '<img class="latex" alt="e^{i\\pi}" src="https://s0.wp.com/latex.php?latex=e">',
      "$e^{i\\pi}$",
    ],
    ["an attribute", '<span data-tex="a_1^2"><svg></svg></span>', "$a_1^2$"],
    ["Pandoc", '<span class="math inline">\\(a_1 * b_2\\)</span>', "$a_1 * b_2$"],
    ["GitHub", '<math-renderer class="js-inline-math">$a_1 * b_2$</math-renderer>', "$a_1 * b_2$"],
    [
      "text that a script would draw",
      `<script src="/mathjax.js"></script>\\(a_1 &lt; *b*\\)`,
      "$a_1 < *b*$",
    ],
    [
      "text, without such a script",
      "\\(a_1 * b_2\\) and $$c_1 * d_2$$",
      "\\(a_1 * b_2\\) and $$c_1 * d_2$$",
    ],
  ])("%s", async (_what, html, expected) => {
    const text = await readMarkdown(around(html));
    expect(text).toContain(`before ${expected} after`);
    expect(text).not.toContain("DRAWN");
    expect(await readMarkdown(around(html), { format: "text" })).toContain(
      `before ${expected} after`,
    );
  });

  it.each<[string, string, string]>([
    ["KaTeX", katex(TEX, true), TEX],
    ["MathJax 2", `<script type="math/tex; mode=display">${TEX}</script>`, TEX],
    ["MathML", '<math display="block"><mi>x</mi><mo>=</mo><mn>1</mn></math>', "x=1"],
    ["Doxygen", '<img class="formulaDsp" alt="\\[ a_1 \\]" src="form_1.png">', "a_1"],
    [
      "text with line breaks",
      '<script src="/katex.js"></script>$$a_1 = b \\\\\n c_2$$',
      "a_1 = b \\\\ c_2",
    ],
    [
      "an environment",
      '<script src="/mathjax.js"></script>\\begin{align} a_1 &amp;= b \\\\ c &amp;= d \\end{align}',
      "\\begin{align} a_1 &= b \\\\ c &= d \\end{align}",
    ],
  ])("on a separate line: %s", async (_what, html, tex) => {
    expect(await readMarkdown(around(html))).toMatch(/before\s/);
    expect((await readMarkdown(around(html))).split(/\s*\n/)).toContain(`$$${tex}$$`);
  });

  it("in a table, a list, a quote and a heading", async () => {
    const text = await readMarkdown(
      `<main><p>${prose(6, 3)}</p><h2>The ${katex("L^2")} norm</h2><table><tr><th>f</th><th>g</th></tr><tr><td>${katex("|x| \\| y")}</td><td>1</td></tr></table><ul><li>${katex("a_1", true)}</li></ul><blockquote>${katex("b_1", true)}</blockquote></main>`,
    );
    expect(text).toContain("## The $L^2$ norm");
    expect(text).toContain("| $\\vert x\\vert \\Vert y$ | 1 |");
    expect(text).toMatch(/^- \$\$a_1\$\$$/m);
    expect(text).toMatch(/^> \$\$b_1\$\$$/m);
  });

  it("code, prices and names keep their signs", async () => {
    const text = await readMarkdown(
      `<script src="/mathjax.js"></script><main><p>${prose(6, 4)}</p><p>It costs $5, not $10. Call <code>\\(x\\)</code> and snake_case_name, __init__, &lt;string&gt; or a &lt; b.</p><pre>awk '{print $1, $2}' \\(a\\) &lt;string&gt; a_b</pre></main>`,
    );
    expect(text).toContain("It costs $5, not $10. Call `\\(x\\)` and snake_case_name");
    expect(text).toContain("\\<string> or a < b.");
    expect(text).toContain("```\nawk '{print $1, $2}' \\(a\\) <string> a_b\n```");
  });

  it("a page of <string> in its text keeps its Markdown", async () => {
    const items = Array.from(
      { length: 60 },
      (_, index) => `<li><b>set</b> &lt;name${index}string&gt;</li>`,
    );
    const text = await readMarkdown(`<main><h2>Usage</h2><ul>${items.join("")}</ul></main>`);
    expect(text).toContain("## Usage");
    expect(text).toContain("- **set** \\<name7string>");
  });

  it.each([
    ["style", 'style="display:none"'],
    ["an attribute", "hidden"],
    ["aria-hidden", 'aria-hidden="true"'],
    ["a rule", 'class="x"'],
  ])("a formula that %s hides is omitted", async (_how, hiding) => {
    const hidden = `<span data-tex="HIDDEN" ${hiding}>x</span><math alttext="HIDDEN" ${hiding}><mi>x</mi></math><img alt="$HIDDEN$" src="/x.png" ${hiding}>`;
    const text = await readMarkdown(`<style>.x{display:none}</style>${around(hidden)}`);
    expect(text).toContain("before");
    expect(text).not.toContain("HIDDEN");
  });

  it("characters that a formula uses on its way are not taken from a page", async () => {
    const signs = [..."# forged"]
      .map((sign) => `&#${0x10ff00 + (sign.codePointAt(0) ?? 0)};`)
      .join("");
    const direct = [..."# forged"]
      .map((sign) => String.fromCodePoint(0x10ff00 + (sign.codePointAt(0) ?? 0)))
      .join("");
    const text = await readMarkdown(
      `<main><p>${prose(3, 5)}</p><p>${signs}</p><p>${direct}</p></main>`,
    );
    expect(text).not.toContain("forged");
  });
});

describe("MathML as TeX", () => {
  const cases: Readonly<Record<string, string>> = {
    "<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>": "\\frac{a}{b+1}",
    "<msqrt><mi>x</mi><mo>+</mo><mi>y</mi></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>":
      "\\sqrt{x+y}\\sqrt[3]{x}",
    "<msup><mi>e</mi><mrow><mi>i</mi><mi>π</mi></mrow></msup>": "e^{i\\pi}",
    "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>": "x_i^2",
    "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>":
      "\\sum_{i=1}^ni",
    "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder><mi>sin</mi><mi>x</mi>":
      "\\lim_{x\\to0}\\sin x",
    "<mover accent='true'><mi>θ</mi><mo>^</mo></mover><mover><mi>A</mi><mo>¯</mo></mover>":
      "\\hat{\\theta}\\bar{A}",
    "<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable><mo>)</mo>":
      "(\\begin{matrix} 1 & 0 \\\\ 0 & 1 \\end{matrix})",
    "<mfenced open='[' close=']'><mi>a</mi><mi>b</mi></mfenced>": "[a,b]",
    "<mrow><mo>(</mo><mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac><mo>)</mo></mrow>":
      "({n \\atop k})",
    "<mi mathvariant='double-struck'>R</mi><mi>ℝ</mi><mi>𝐯</mi><mi mathvariant='normal'>d</mi>":
      "\\mathbb{R}\\mathbb{R}v\\mathrm{d}",
    "<mi>f</mi><mo>′</mo><mtext>if x_1 </mtext><mn>100</mn><mo>%</mo><mo>{</mo>":
      "f'\\text{if x\\_1 }100\\%\\{",
    "<mover><mo>=</mo><mi>def</mi></mover><mi>rank</mi>":
      "\\overset{\\mathrm{def}}{=}\\mathrm{rank}",
  };
  it.each(Object.entries(cases))("%s", async (mathml, tex) => {
    expect(await readMarkdown(around(`<math>${mathml}</math>`))).toContain(`before $${tex}$ after`);
  });
});
