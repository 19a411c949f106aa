// Scores a text against a page's content: shingles as in scrapinghub/article-extraction-benchmark, words as in WCXB.

const BLOCKS =
  "p|div|li|ul|ol|dl|dt|dd|h[1-6]|br|hr|tr|td|th|table|section|article|header|footer|figure|figcaption|blockquote|pre";

/**
 * The visible text of HTML, with blocks separated.
 *
 * @param {string} html
 * @param {(html: string) => { textContent: string }} parse makes a fragment of HTML
 */
export function textOf(html, parse) {
  const spaced = html
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(new RegExp(`</?(?:${BLOCKS})\\b`, "gi"), "\n$&");
  return parse(spaced).textContent;
}

/** @type {(text: string) => string[]} */
const tokensOf = (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

/** @param {string[]} tokens @param {number} size */
function counted(tokens, size) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (let at = 0; at < Math.max(1, tokens.length - size + 1); at++) {
    const shingle = tokens.slice(at, at + size).join(" ");
    if (shingle !== "") counts.set(shingle, (counts.get(shingle) ?? 0) + 1);
  }
  return counts;
}

/**
 * Precision, recall and F1 of one text against another.
 *
 * @param {string} text
 * @param {string} expected
 * @param {number} size words of a shingle
 */
export function score(text, expected, size) {
  /** @param {string} value */
  const lower = (value) => (size === 1 ? value.toLowerCase() : value);
  const actual = counted(tokensOf(lower(text)), size);
  const wanted = counted(tokensOf(lower(expected)), size);
  /** @param {Map<string, number>} counts */
  const total = (counts) => [...counts.values()].reduce((sum, count) => sum + count, 0);
  let both = 0;
  for (const [shingle, count] of actual) both += Math.min(count, wanted.get(shingle) ?? 0);
  const precision = actual.size === 0 ? (wanted.size === 0 ? 1 : 0) : both / total(actual);
  const recall = wanted.size === 0 ? (actual.size === 0 ? 1 : 0) : both / total(wanted);
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { precision, recall, f1 };
}
