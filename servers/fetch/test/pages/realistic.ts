import { FRAME_WORDS, framed, prose, type RealisticPage } from "./write.ts";

const article: RealisticPage = {
  name: "an article",
  title: "The old mill",
  html: framed(
    "The old mill",
    `<main><article><h1>The old mill</h1><p class="byline">By Ada Writer</p><time datetime="2026-03-04">4 March 2026</time>
<p>FIRST-PARAGRAPH ${prose(5, 2)}</p><figure><img src="/mill.jpg" alt="The mill at dawn"><figcaption>FIGURE-CAPTION</figcaption></figure>
<h2>Its wheel</h2><p>SECOND-PARAGRAPH ${prose(6, 3)} See <a href="/wheel">the wheel</a>.</p>
<blockquote><p>QUOTED-WORDS ${prose(1, 4)}</p></blockquote><p>LAST-PARAGRAPH ${prose(4, 5)}</p></article></main>`,
    {
      head: '<meta name="author" content="Ada Writer"><meta property="article:published_time" content="2026-03-04">',
    },
  ),
  keeps: [
    "FIRST-PARAGRAPH",
    "FIGURE-CAPTION",
    "## Its wheel",
    "SECOND-PARAGRAPH",
    "[the wheel](",
    "> QUOTED-WORDS",
    "LAST-PARAGRAPH",
  ],
  drops: [...FRAME_WORDS, "RELATED-ONE"],
};

const documentation: RealisticPage = {
  name: "documentation with code",
  title: "createReader — Reference",
  html: framed(
    "createReader — Reference",
    `<div class="layout"><nav class="toc"><a href="#x">TOC-ENTRY</a></nav><main><h1>createReader(options)</h1><p>Makes a reader. ${prose(3, 6)}</p>
<h2 id="install">Install</h2><pre><code class="language-sh">npm install reader-lib
reader --version</code></pre><h2>Usage</h2><p>Pass <code>options.depth</code>: ${prose(2, 7)}</p>
<pre><code class="language-ts">const reader = createReader({
  depth: 3, // levels &lt; 10
});
if (a &amp;&amp; b) reader.run();</code></pre><h2>Options</h2>
<table><thead><tr><th>Name</th><th>Type</th><th>Default</th></tr></thead><tbody><tr><td><code>depth</code></td><td>number</td><td>3</td></tr><tr><td><code>mode</code></td><td>"a" | "b"</td><td>"a"</td></tr></tbody></table>
<p>NOTE-AT-END ${prose(2, 8)}</p></main></div>`,
  ),
  keeps: [
    "Makes a reader.",
    "## Install",
    "```sh\nnpm install reader-lib\nreader --version\n```",
    "## Usage",
    "`options.depth`",
    "```ts\nconst reader = createReader({\n  depth: 3, // levels < 10\n});\nif (a && b) reader.run();\n```",
    "## Options",
    "| Name | Type | Default |",
    "| `depth` | number | 3 |",
    "NOTE-AT-END",
  ],
  drops: FRAME_WORDS,
};

export const realisticPages: readonly RealisticPage[] = [article, documentation];
