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

const rows = Array.from(
  { length: 40 },
  (_, index) =>
    `<tr><td>Town ${index}</td><td>${index * 1_000 + 17}</td><td>${(index * 1.5).toFixed(1)}</td></tr>`,
);
const table: RealisticPage = {
  name: "a table",
  title: "Towns by population",
  html: framed(
    "Towns by population",
    `<main><h1>Towns by population</h1><p>As of 2026.</p><table><tr><th>Town</th><th>People</th><th>Area</th></tr>${rows.join("")}</table><p>SOURCE-LINE</p></main>`,
  ),
  keeps: [
    "| Town | People | Area |",
    "| Town 0 | 17 | 0.0 |",
    "| Town 20 | 20017 | 30.0 |",
    "| Town 39 | 39017 | 58.5 |",
    "SOURCE-LINE",
  ],
  drops: FRAME_WORDS,
};

const posts = Array.from(
  { length: 12 },
  (_, index) =>
    `<div class="post" id="p${index}"><div class="author">user_${index}</div><div class="message"><p>POST-${index}: ${prose(2, 20 + index)}</p></div></div>`,
);
const forum: RealisticPage = {
  name: "a forum thread",
  title: "How do I mend the wheel?",
  html: framed(
    "How do I mend the wheel?",
    `<div class="thread"><h1>How do I mend the wheel?</h1>${posts.join("\n")}</div>`,
  ),
  keeps: posts.map((_, index) => `POST-${index}:`),
  drops: FRAME_WORDS,
};

const shop: RealisticPage = {
  name: "a product of a shop",
  title: "Cast iron pan, 28 cm",
  html: framed(
    "Cast iron pan, 28 cm",
    `<main class="product"><h1>Cast iron pan, 28 cm</h1><div class="price"><span>€ 49.90</span></div><div class="stock">In stock: 12</div><button>Add to basket</button>
<div class="description"><p>${prose(3, 40)}</p><ul><li>Weight: 2.9 kg</li><li>For induction: yes</li></ul></div>
<div class="reviews"><h2>Reviews</h2><div><b>Mary</b><p>REVIEW-ONE ${prose(1, 41)}</p></div><div><b>Charles</b><p>REVIEW-TWO ${prose(1, 42)}</p></div></div></main>`,
  ),
  keeps: [
    "€ 49.90",
    "In stock: 12",
    "Weight: 2.9 kg",
    "For induction: yes",
    "REVIEW-ONE",
    "REVIEW-TWO",
  ],
  drops: FRAME_WORDS,
};

const stories = Array.from(
  { length: 15 },
  (_, index) =>
    `<li><a href="/story/${index}">HEADLINE-${index} of the day</a> <span class="meta">${index + 3} points by user${index}</span></li>`,
);
const newsList: RealisticPage = {
  name: "a list of news",
  title: "News of the valley",
  html: framed("News of the valley", `<div id="stories"><ol>${stories.join("")}</ol></div>`),
  keeps: stories.map((_, index) => `[HEADLINE-${index} of the day](`),
  drops: FRAME_WORDS,
};

const wiki: RealisticPage = {
  name: "a wiki",
  title: "Water wheel - Wiki",
  html: framed(
    "Water wheel - Wiki",
    `<div id="content"><h1>Water wheel</h1><div id="toc"><ul><li><a href="#History">1 History</a></li></ul></div><p>A <b>water wheel</b> is a machine.<sup id="c1"><a href="#n1">[1]</a></sup> ${prose(5, 50)}</p>
<table class="infobox"><tr><th>Type</th><td>Machine</td></tr><tr><th>First used</th><td>3rd century BC</td></tr></table>
<h2><span id="History">History</span> <span class="edit">[<a href="/edit">edit</a>]</span></h2><p>HISTORY-TEXT ${prose(6, 51)}</p><h3>Antiquity</h3><p>ANTIQUITY-TEXT ${prose(4, 52)}</p>
<h2>References</h2><ol><li id="n1">REFERENCE-ONE, 1923.</li></ol></div>`,
  ),
  keeps: [
    "**water wheel**",
    "3rd century BC",
    "HISTORY-TEXT",
    "### Antiquity",
    "ANTIQUITY-TEXT",
    "REFERENCE-ONE",
  ],
  drops: FRAME_WORDS,
};

const japanese: RealisticPage = {
  name: "a page in Japanese",
  title: "古い水車",
  html: framed(
    "古い水車",
    `<article><h1>古い水車</h1><p>${"川のほとりに古い水車があります。静かに回り続けて、村の人々を見守ってきました。".repeat(6)}</p><h2>歴史</h2><p>${"三百年前に建てられました。".repeat(8)}</p></article>`,
    { lang: "ja" },
  ),
  keeps: ["川のほとりに古い水車があります。", "## 歴史", "三百年前に建てられました。"],
  drops: FRAME_WORDS,
};

const arabic: RealisticPage = {
  name: "a page from right to left",
  title: "الطاحونة القديمة",
  html: framed(
    "الطاحونة القديمة",
    `<article><h1>الطاحونة القديمة</h1><p>${"تقف الطاحونة القديمة على ضفة النهر، هادئة ورمادية. ".repeat(8)}</p><h2>تاريخها</h2><p>${"بنيت قبل ثلاثمئة عام. ".repeat(10)}</p></article>`,
    { lang: "ar", dir: "rtl" },
  ),
  keeps: [
    "تقف الطاحونة القديمة على ضفة النهر، هادئة ورمادية.",
    "## تاريخها",
    "بنيت قبل ثلاثمئة عام.",
  ],
  drops: FRAME_WORDS,
};

const bare: RealisticPage = {
  name: "a page of the first days of the web",
  title: "My page",
  html: `<title>My page</title><h1>Welcome</h1>Text without any tag around it.<br>A second line.<p>PARAGRAPH-NEVER-CLOSED<p>ANOTHER-ONE<ul><li>one<li>two</ul>TAIL-TEXT`,
  keeps: [
    "# Welcome",
    "Text without any tag around it.",
    "A second line.",
    "PARAGRAPH-NEVER-CLOSED",
    "ANOTHER-ONE",
    "one",
    "two",
    "TAIL-TEXT",
  ],
  drops: ["<p", "<li"],
};

const unusual: RealisticPage = {
  name: "a page whose content stands where it should not",
  title: "Odd",
  html: `<html><head><title>Odd</title><p>IN-THE-HEAD ${prose(2, 60)}</p></head><body><p>IN-THE-BODY ${prose(3, 61)}</p></body><p>AFTER-THE-BODY ${prose(2, 62)}</p></html><p>AFTER-THE-END ${prose(1, 63)}</p>`,
  keeps: ["IN-THE-HEAD", "IN-THE-BODY", "AFTER-THE-BODY", "AFTER-THE-END"],
  drops: [],
};

export const realisticPages: readonly RealisticPage[] = [
  article,
  documentation,
  table,
  forum,
  shop,
  newsList,
  wiki,
  japanese,
  arabic,
  bare,
  unusual,
];
