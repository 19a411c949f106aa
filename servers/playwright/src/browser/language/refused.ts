interface Refused {
  /** Words outside quotes. */
  readonly pattern: RegExp;
  /** What is expected instead. */
  readonly why: string;
  /** The sentence to send, of the words before these and after; by default, the words before. */
  readonly send?: (before: string, found: RegExpExecArray, after: string) => string;
}

/** What models and people also write. No word of a sentence is ignored, so each of these has another sentence to send. */
const REFUSED: readonly Refused[] = [
  {
    pattern: /\s(?:until|unless|if|while)\s/i,
    why: "no condition. Send this alone, and what must hold first as a step before it: wait for and a check",
  },
  {
    pattern: /\s(?:(?:after|by|on|whenever)\s+\S+ing|when|during|once)\b/i,
    why: "nothing that is done before. Send that as a step before it, and then this",
  },
  {
    pattern: /\s(?:for|after)\s+(?:at\s+least\s+)?\d+\s*(?:ms|s|sec|seconds?|min|minutes?)\b/i,
    why: "within and a time, which is the longest wait. For what must stay, send the step wait 2s and then the check",
  },
  {
    pattern: /\s(?:(?:is|are)\s+)?(?:visible\s+)?(?:above|below)\s+the\s+fold\b/i,
    why: "is in viewport, or is not in viewport",
    send: (before) => `${before} is in viewport`,
  },
  {
    pattern: /\s(?:is|are)\s+(?:not\s+)?(?:in)?active\b/i,
    why: "is selected (a tab, an option), is enabled, or what marks it on this page, such as has class 'active'",
    send: (before) => `${before} is selected`,
  },
  {
    pattern: /^no\s+(?:broken|dead|network|http|request)\s+(?:links?|urls?|errors?)\b/i,
    why: "no failed requests, which is about what the page loads: links are not followed",
    send: () => "no failed requests",
  },
  {
    pattern: /^(?:page\s+has\s+)?no\s+(?:(?:js|javascript|uncaught|runtime)\s+)?errors?[.\s]*$/i,
    why: "no console errors, which are also those that nothing catches",
    send: () => "no console errors",
  },
  {
    pattern: /^no\s+(?:console\s+)?(?:errors?\s+(?:or|and)\s+)?(?:console\s+)?warnings?\b/i,
    why: "no console errors: warnings are not checked",
    send: () => "no console errors",
  },
  {
    pattern:
      /^no\s.*?\b(?:third[- ]part(?:y|ies)|(?:other|external|foreign)\s+(?:domains?|hosts?|sites?))\b/i,
    why: "no requests to a host that you name: the page's own may have several",
    send: () => "no requests to ads.example.com",
  },
  {
    pattern: /(?<!\S)([a-z][a-z0-9]*)\s+#?([1-9]\d{0,2})(?!\S)/i,
    why: "nth and the number before the element",
    send: (before, [, tag, number], after) => `${before} nth ${number} ${tag}${after}`.trim(),
  },
  {
    pattern: /(?<=^·+)(?:,?\s+and|,)\s+·+.*?\s(?=(?:is|are)\s)/i,
    why: "one element a sentence: send a sentence for each",
    send: (before, _, after) => `${before} ${after.replace(/^are/i, "is")}`,
  },
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
  for (const { pattern, why, send = (before: string) => before } of REFUSED) {
    const found = pattern.exec(bare);
    if (found === null) continue;
    const { 0: words, index } = found;
    const before = text.slice(0, index).trim();
    const example = send(before, found, text.slice(index + words.length));
    const at = index + (/\S/.exec(words)?.index ?? 0);
    if (isSentence(example)) return { at, expected: why, example };
  }
  return undefined;
}
