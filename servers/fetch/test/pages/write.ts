const WORDS =
  "the river bends here and the old mill stands on its bank, grey and quiet, while people of the village pass over the bridge with their carts".split(
    " ",
  );

/** Prose of some sentences, the same for the same seed. */
export function prose(sentences: number, seed = 1): string {
  let state = seed;
  const next = (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % most;
  };
  return Array.from({ length: sentences }, () => {
    const words = Array.from({ length: 8 + next(10) }, () => WORDS[next(WORDS.length)] ?? "");
    const text = words.join(" ").replace(/,+$/, "");
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }).join(" ");
}

/** A typical site's navigation around some content. */
export function framed(
  title: string,
  content: string,
  { lang = "en", head = "", dir = "ltr" } = {},
): string {
  return `<!doctype html>
<html lang="${lang}" dir="${dir}"><head><meta charset="utf-8"><title>${title}</title>${head}
<style>.x{color:red}</style><script>window.tracking = "TRACKING-CODE";</script></head>
<body>
<header class="site-header"><a href="/">SITE-LOGO</a><nav><ul><li><a href="/a">MENU-ONE</a></li><li><a href="/b">MENU-TWO</a></li></ul></nav></header>
<div class="cookie-banner" hidden>COOKIE-CONSENT</div>
${content}
<aside class="sidebar"><h3>RELATED-LINKS</h3><ul><li><a href="/r1">RELATED-ONE</a></li></ul></aside>
<footer><p>FOOTER-TEXT</p><a href="/imprint">IMPRINT</a></footer>
<script>document.write("WRITTEN-BY-SCRIPT")</script>
</body></html>`;
}

export const FRAME_WORDS = [
  "MENU-ONE",
  "MENU-TWO",
  "TRACKING-CODE",
  "COOKIE-CONSENT",
  "FOOTER-TEXT",
  "WRITTEN-BY-SCRIPT",
];
