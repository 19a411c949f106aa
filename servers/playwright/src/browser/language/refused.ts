/** What models and people also write: words outside quotes, and what to send instead. */
const REFUSED: readonly (readonly [words: RegExp, send: string])[] = [
  [/\s(?:(?:is|are)\s+)?(?:visible\s+)?above\s+the\s+fold\b/di, " is in viewport"],
  [/\s(?:is|are)\s+(not\s+)?active\b/di, " is $1selected"],
  [/\s(?:is|are)\s+open(?:ed)?\b/di, " is visible"],
  // What the page loads: links are not followed.
  [/^no\s+(?:broken|dead|network|http|request)\s+(?:link|url|error)s?\b.*/di, "no failed requests"],
  [/^no\s.*\b(?:third.part|other|external|foreign)\w*.*/di, "no requests to ads.example.com"],
  [/(?<!\S)([a-z][a-z0-9]*)\s+#?([1-9]\d{0,2})(?!\S)/di, "nth $2 $1"],
  [/(?<!\S)(?:list)?items?(?!\S)/di, "li"],
  [/^(no\s+)?([A-Z]{3,7})\s+(requests?)\s+to\b/d, "$1$3 to $2"],
  [
    /^(.+)\s+has\s+(?:selected\s+option\s+(·+)|option\s+(·+)\s+selected)/di,
    "option $2$3 in $1 is selected",
  ],
  // The id is enough.
  [/(?<!\S)[a-z]\w*\s+(?=#[a-z])/di, ""],
  // A sentence for each element.
  [/(?<=^·+)(?:,?\s+and|,)\s+·+.*?\s(?:is|are)\s/di, " is "],
  [/^not?\s+(.+?)\s(?:is|are)\s/di, "$1 is not "],
  [/(?<=^no\s.+\s)(?:that\s+)?(?:contains?|has\s+text)(?=\s+·)/di, "containing"],
  [/\s(?:has\s+no|do(?:es)?(?:\s+not|n['’]t)\s+have)\s+(\w+)(?=\s+·)/di, " has $1 is not"],
  // An element and its text.
  [/(?<!\S)([a-z]\w*)(?=\s+·)/di, "$1 containing"],
];

/** No sentence sets the size of the window. */
export const OF_WINDOW = /^(?:set|resize|change|use)\s+(?:the\s+)?(?:viewport|window)\b/i;

/** What can be left out at the end of a sentence: without any other words, it could say something else. */
export const CLAIMS_NOTHING =
  /^(?:after|while|when|until|unless|if|so|correctly|properly|successfully|immediately)\b|^(?:(?:for|within)\s+\d|on(?:\s+the)?\s+(?:page|screen|mobile|desktop)$)/i;

/** Everything in quotes or backticks as dots. */
const bareWords = (text: string): string =>
  text.replace(/(?<!\w)(['"`])(?:\\.|(?!\1).)*\1(?!\w)/g, (quoted) => "·".repeat(quoted.length));

/** What a claim that cannot be read, after its prefix, could be. */
export function corrections(claim: string, prefix: string): string[] {
  const bare = bareWords(claim).trimEnd();
  return REFUSED.flatMap(([pattern, send]) => {
    const words = pattern.exec(bare);
    if (words === null) return [];
    const own = send.replace(/\$(\d)/g, (_, n: string) =>
      claim.slice(...(words.indices?.[Number(n)] ?? [0, 0])),
    );
    const end = words.index + words[0].length;
    return prefix + claim.slice(0, words.index) + own + claim.slice(end);
  });
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

/** How much of two words is the same from their beginnings, from 0 to 1; 0 for less than a half. */
function likeness(word: string, other: string): number {
  const differs = [...word].findIndex((letter, index) => letter !== other[index]);
  const share = (differs < 0 ? word.length : differs) / Math.max(word.length, other.length);
  return share < 0.5 ? 0 : share;
}

/** The example with most of a sentence's words; undefined if no example shares a word with it. */
export function nearestExample(text: string, examples: readonly string[]): string | undefined {
  const written = wordsOf(text);
  // What is absent is another claim than what is there.
  const bare = bareWords(text);
  const isNegative = /\b(?:no|not|none|never|without)\b|n['’]t\b/i.test(bare);
  // No example says what an element does not have.
  if (isNegative && /\b(?:has\s+no|have)\b/i.test(bare)) return undefined;
  const isOf = (example: string) =>
    /\bnot?\b/.test(example) ? isNegative || /\ball\b/i.test(bare) : !isNegative;
  const scores = examples.filter(isOf).map((example) => {
    const words = wordsOf(example);
    const shares = words.map((word) => Math.max(0, ...written.map((own) => likeness(own, word))));
    return { example, score: shares.reduce((sum, share) => sum + share, -words.length / 1_000) };
  });
  const [best] = scores.sort((a, b) => b.score - a.score);
  return best !== undefined && best.score > 0.1 ? best.example : undefined;
}
