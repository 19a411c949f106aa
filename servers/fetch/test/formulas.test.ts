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
      "MathJax 4",
      '<mjx-container class="MathJax"><mjx-math data-latex="\\alpha_1*2"></mjx-math></mjx-container>',
      "$\\alpha_1*2$",
    ],
    [
      "Wikipedia",
      '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle {\\frac {a}{b}}}"><mfrac><mi>a</mi><mi>b</mi></mfrac></math></span><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle {\\frac {a}{b}}}" src="/x.svg" aria-hidden="true"></span>',
      `$${"{\\frac {a}{b}}"}$`,
    ],
    ["Pandoc", '<span class="math inline">\\(a_1 * b_2\\)</span>', "$a_1 * b_2$"],
    [
      "text that a script would draw",
      `<script src="/mathjax.js"></script>\\(a_1 &lt; *b*\\)`,
      "\\(a_1 < *b*\\)",
    ],
  ])("%s", async (_what, html, expected) => {
    const text = await readMarkdown(around(html));
    expect(text).toContain(`before ${expected} after`);
    expect(text).not.toContain("DRAWN");
  });

  it.each<[string, string, string]>([
    ["KaTeX", katex(TEX, true), TEX],
    ["MathJax 2", `<script type="math/tex; mode=display">${TEX}</script>`, TEX],
    ["Doxygen", '<img class="formulaDsp" alt="\\[ a_1 \\]" src="form_1.png">', "a_1"],
    [
      "an environment",
      '<script src="/mathjax.js"></script>\\begin{align} a_1 &amp;= b \\\\ c &amp;= d \\end{align}',
      "\\begin{align} a_1 &= b \\\\ c &= d \\end{align}",
    ],
  ])("on a separate line: %s", async (_what, html, tex) => {
    expect(await readMarkdown(around(html))).toMatch(/before\s/);
    const lines = (await readMarkdown(around(html))).split(/\s*\n/);
    expect(lines).toContain(/^\\begin/.test(tex) ? tex : `$$${tex}$$`);
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

  it.each([
    ["style", 'style="display:none"'],
    ["a rule", 'class="x"'],
  ])("a formula that %s hides is omitted", async (_how, hiding) => {
    const hidden = `<math alttext="HIDDEN" ${hiding}><mi>x</mi></math><img alt="$HIDDEN$" src="/x.png" ${hiding}>`;
    const text = await readMarkdown(`<style>.x{display:none}</style>${around(hidden)}`);
    expect(text).toContain("before");
    expect(text).not.toContain("HIDDEN");
  });

  it("of MathML without TeX the text is left", async () => {
    const mathml = "<math><mi>x</mi><mo>=</mo><mn>1</mn></math>";
    expect(await readMarkdown(around(mathml))).toContain("before x=1 after");
  });
});
