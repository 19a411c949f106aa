import { framed, prose } from "./write.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** A page as rustdoc writes it: methods whose headings have the class "code-header", and implementations of traits. */
export function rustdocPage(): { html: string; signatures: string[] } {
  const link = (name: string) =>
    `<a class="struct" href="struct.${name}.html" title="struct std::${name}">${name}</a>`;
  const method = (name: string) =>
    `<details class="rustdoc-toggle method-toggle" open><summary><section id="method.${name}" class="method has-srclink"><span class="rightside"><span class="since">1.0.0</span> · <a class="srclink" href="src.html#1">source</a></span><a href="#method.${name}" class="anchor"></a><h4 class="code-header">pub fn <a href="#method.${name}" class="fnname">${name}</a>&lt;F&gt;(self, f: F) -&gt; ${link("Wheel")} <span class="where fmt-newline">where<br>&nbsp;&nbsp;&nbsp;&nbsp;F: ${link("Turn")}</span></h4></section></summary><div class="docblock"><p>Turns it. ${prose(2, name.length)}</p><h5 id="examples"><a href="#examples">Examples</a></h5><div class="example-wrap"><pre class="rust rust-example-rendered"><code><span class="kw">let</span> <span class="ident">wheel</span> = <span class="ident">Wheel::${name}</span>();</code></pre></div></div></details>`;
  const implementation = (index: number) =>
    `<details class="rustdoc-toggle implementors-toggle" open><summary><section id="impl-${index}" class="impl has-srclink"><span class="rightside"><a class="srclink" href="src.html#2">source</a></span><a href="#impl-${index}" class="anchor"></a><h3 class="code-header in-band">impl ${link(`Trait${index}`)} for ${link("Wheel")}</h3></section></summary><div class="impl-items"><section id="method.of-${index}" class="method trait-impl has-srclink"><h4 class="code-header">fn <a href="#tymethod.of" class="fnname">of_${index}</a>(&amp;self) -&gt; ${link("Turn")}</h4></section></div></details>`;
  // "skip" and "share" are words of menus too.
  const names = [...numbers(20).map((index) => `turn_${index}`), "skip", "share"];
  return {
    html: `<html><head><title>Wheel in mill - Rust</title></head><body class="rustdoc struct"><nav class="sidebar"><h2 class="location">SIDEBAR</h2></nav><main><div class="width-limiter"><section id="main-content" class="content"><div class="main-heading"><h1 class="fqn"><span class="in-band">Struct <a href="#">Wheel</a></span></h1></div><pre class="rust struct"><code>pub struct Wheel { }</code></pre><p>${prose(9, 80)}</p><h2 id="implementations" class="small-section-header">Implementations<a href="#implementations" class="anchor"></a></h2><div class="impl-items">${names.map(method).join("")}</div><h2 id="trait-implementations" class="small-section-header">Trait Implementations</h2><div id="trait-implementations-list">${numbers(20).map(implementation).join("")}</div></section></div></main></body></html>`,
    signatures: [
      ...names.map((name) => `pub fn ${name}<F>(self, f: F) -> Wheel where F: Turn`),
      ...numbers(20).flatMap((index) => [
        `impl Trait${index} for Wheel`,
        `fn of_${index}(&self) -> Turn`,
      ]),
    ],
  };
}

/** A page as javadoc writes it: signatures are short elements that mostly consist of links. */
export function javadocPage(): { html: string; signatures: string[] } {
  const link = (name: string) => `<a href="${name}.html" title="class in java.mill">${name}</a>`;
  const detail = (index: number) =>
    `<li><section class="detail" id="turn${index}(java.mill.Water)"><h3>turn${index}</h3><div class="member-signature"><span class="return-type">${link("Wheel")}&lt;${link("Water")}&gt;</span>&nbsp;<span class="element-name">turn${index}</span><wbr><span class="parameters">(${link("Water")}&lt;? super ${link("River")}&gt;&nbsp;w)</span></div><div class="block">${prose(3, index)}<pre>\n     wheel.turn${index}();\n </pre></div><dl class="notes"><dt>Parameters:</dt><dd><code>w</code> - the water</dd></dl></section></li>`;
  return {
    html: `<html><head><title>Wheel</title></head><body class="class-declaration-page"><header role="banner"><nav role="navigation">SIDEBAR</nav></header><main role="main"><div class="header"><h1 title="Interface Wheel" class="title">Interface Wheel</h1></div><section class="class-description" id="class-description"><div class="block">${prose(9, 81)}</div></section><section class="details"><ul class="details-list"><li><section class="method-details" id="method-detail"><h2>Method Details</h2><ul class="member-list">${numbers(30).map(detail).join("")}</ul></section></li></ul></section></main></body></html>`,
    signatures: [
      "# Interface Wheel",
      ...numbers(30).map((index) => `Wheel<Water> turn${index}(Water<? super River> w)`),
    ],
  };
}

/** A page as Sphinx writes it: ids are headings, whose words can be those of a menu or an advertisement. */
export function sphinxPage(): { html: string; signatures: string[] } {
  const titles = ["Sharing the wheel", "Menu of grains", "Login", "Related mills"];
  const section = (title: string) =>
    `<section id="${title.toLowerCase().replaceAll(" ", "-")}"><h2><a class="toc-backref" href="#id1" role="doc-backlink">${title}</a><a class="headerlink" href="#x" title="Permalink to this heading">¶</a></h2><p>${prose(4, title.length)}</p>${title === "Login" ? "" : `<div class="highlight"><pre><span class="gp">&gt;&gt;&gt; </span><span class="n">mill</span></pre></div>`}</section>`;
  return {
    html: framed(
      "Mills",
      `<div class="body" role="main"><section id="mills"><h1>Mills</h1><p>${prose(6, 82)}</p>${titles.map(section).join("")}</section></div><div class="sphinxsidebar"><h3>SIDEBAR</h3></div>`,
    ),
    signatures: ["# Mills", ...titles.map((title) => `## ${title}`)],
  };
}
