/** What models and people also write: words outside quotes, what is expected instead, and the sentence to send. */
const REFUSED: readonly (readonly [words: RegExp, why: string, send?: string])[] = [
  [
    /\s(?:(?:is|are)\s+)?(?:visible\s+)?above\s+the\s+fold\b/i,
    "is in viewport, or is not in viewport",
    " is in viewport",
  ],
  [
    /\s(?:is|are)\s+(not\s+)?active\b/i,
    "is selected (a tab, an option), is enabled, or what marks it on this page, such as has class 'active'",
    " is $1selected",
  ],
  [
    /\s(?:is|are)\s+open(?:ed)?\b/i,
    "is visible (a dialog), or is expanded (details, aria-expanded)",
    " is visible",
  ],
  [
    /^no\s+(?:broken|dead|network|http|request)\s+(?:links?|urls?|errors?)\b.*/i,
    "no failed requests, which is about what the page loads: links are not followed",
    "no failed requests",
  ],
  [
    /^no\s+(?:console\s+)?warnings?\b.*/i,
    "no console errors: warnings are not checked",
    "no console errors",
  ],
  [
    /^no\s.*?\b(?:third[- ]part(?:y|ies)|(?:other|external|foreign)\s+(?:domains?|hosts?|sites?))\b.*/i,
    "no requests to a host that you name: the page's own may have several",
    "no requests to ads.example.com",
  ],
  [
    /(?<!\S)([a-z][a-z0-9]*)\s+#?([1-9]\d{0,2})(?!\S)/i,
    "nth and the number before the element",
    "nth $2 $1",
  ],
  [
    /(?<=^·+)(?:,?\s+and|,)\s+·+.*?\s(?:is|are)\s/i,
    "one element a sentence: send a sentence for each",
    " is ",
  ],
];

/** Everything in quotes or backticks as dots. */
const bareWords = (text: string): string =>
  text.replace(/(?<!\w)(['"`])(?:\\.|(?!\1).)*\1(?!\w)|“[^”]*”|‘[^’]*’/g, (quoted) =>
    "·".repeat(quoted.length),
  );

/** Why a sentence that cannot be read is refused if it is one of these: where, what is expected, and what to send. */
export function refusal(
  text: string,
  isSentence: (text: string) => boolean,
): { at: number; expected: string; example: string } | undefined {
  const bare = bareWords(text).trimEnd();
  for (const [pattern, expected, send = ""] of REFUSED) {
    const words = pattern.exec(bare);
    if (words === null) continue;
    const [all] = words;
    const own = send.replace(/\$(\d)/g, (_, group: string) => words[Number(group)] ?? "");
    const example = text.slice(0, words.index) + own + text.slice(words.index + all.length);
    const at = words.index + (/\S/.exec(all)?.index ?? 0);
    if (isSentence(example)) return { at, expected, example };
  }
  return undefined;
}

/** Words that say nothing about a form. */
const EMPTY =
  /^(?:no|not|the|there|this|that|is|are|be|to|in|on|of|has|have|and|for|with|page|all|any|it)$/;
const wordsOf = (text: string): string[] => {
  const words =
    bareWords(text)
      .toLowerCase()
      .match(/[a-z][a-z0-9]+/g) ?? [];
  return [...new Set(words)].filter((word) => !EMPTY.test(word));
};

/** How much of two words is the same from their beginnings, from 0 to 1. */
function likeness(word: string, other: string): number {
  const differs = [...word].findIndex((letter, index) => letter !== other[index]);
  const share = (differs < 0 ? word.length : differs) / Math.max(word.length, other.length);
  return share < 0.5 ? 0 : share;
}

/** The example that has most of a sentence's words, above all those that few examples have; undefined if it is far from all. */
export function nearestExample(text: string, examples: readonly string[]): string | undefined {
  const written = wordsOf(text);
  // What is absent is another claim than what is there.
  const isNegative = /\b(?:no|not|none|never|without|all)\b/i.test(bareWords(text));
  const isOf = (example: string) =>
    /^no\s/.test(example)
      ? isNegative
      : !/^no\s/i.test(text) && (isNegative || !/\bnot\b/.test(example));
  const forms = examples.filter(isOf).map((example) => ({ example, words: wordsOf(example) }));
  const rarity = (word: string) => 1 / forms.filter(({ words }) => words.includes(word)).length;
  const scores = forms.map(({ example, words }) => {
    const shares = words.map(
      (word) => rarity(word) * Math.max(0, ...written.map((own) => likeness(own, word))),
    );
    return { example, score: shares.reduce((sum, share) => sum + share, -words.length / 1_000) };
  });
  const [best] = scores.sort((a, b) => b.score - a.score);
  return best !== undefined && best.score > 0.1 ? best.example : undefined;
}
