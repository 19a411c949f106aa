interface Refused {
  /** Words outside quotes. */
  readonly pattern: RegExp;
  /** What is expected instead. */
  readonly why: string;
  /** The sentence to send; by default what is before these words, with `rest`. */
  readonly send?: string | ((found: RegExpExecArray, text: string) => string);
  readonly rest?: string;
  /** Even if the sentence can be read otherwise. */
  readonly isSure?: boolean;
}

/** What models and people also write. No word of a sentence is ignored, so each of these has another sentence to send. */
const REFUSED: readonly Refused[] = [
  {
    pattern:
      /\s(?:in|on|at|for)\s+(?:an?\s+|the\s+)?(?:mobile|tablet|desktop|phone|iphone|ipad|android|landscape|portrait)(?:\s+(?:view|mode|layout|viewport|screen|device|size)s?)?[.\s]*$/i,
    why: 'no device: pass it in devices, such as ["iPhone 15"]',
    isSure: true,
  },
  {
    pattern: /(?<!\S)(?:red|green|blue|yellow|orange|white|black|gr[ae]y|bold|big|large|small)\s/i,
    why: "no color or size before a name: how something looks is has style",
    send: "expect h1 has style 'color' 'rgb(0, 128, 0)'",
  },
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
    pattern:
      /\s(?:(?:is|are)\s+)?(?:visible\s+|shown\s+|displayed\s+)?(?:above|below)\s+the\s+fold\b/i,
    why: "is in viewport, or is not in viewport",
    rest: " is in viewport",
  },
  {
    pattern: /\s(?:is|are)\s+(?:not\s+)?(?:in)?active\b/i,
    why: "is selected (a tab, an option), is enabled, or what marks it on this page, such as has class 'active'",
    rest: " is selected",
  },
  {
    pattern: /\s(?:is|are)\s+(?:not\s+)?(?:open(?:ed)?|closed)\b/i,
    why: "is visible or is hidden, of an element that the page has by this name",
    send: "dialog 'Settings' is hidden",
  },
  {
    pattern: /^no\s+(?:broken|dead|network|http|request)\s+(?:links?|urls?|errors?)\b/i,
    why: "no failed requests, which is about what the page loads: links are not followed",
    send: "no failed requests",
  },
  {
    pattern: /^(?:page\s+has\s+)?no\s+(?:(?:js|javascript|uncaught|runtime)\s+)?errors?[.\s]*$/i,
    why: "no console errors, which are also those that nothing catches",
    send: "no console errors",
  },
  {
    pattern: /^no\s+([a-z]+)\s+(link|button|field|heading|row|dialog)e?s?[.\s]*$/i,
    why: "a name in quotes: a word before an element says nothing that can be checked",
    send: ([, name, noun]) => `no ${noun} '${name}'`,
  },
  {
    pattern: /^\d+\s.*\s(?:is|are)\s+(?:visible|shown|displayed|present|listed)\b/i,
    why: "count is and the number, which counts hidden elements, too",
    send: "li count is 3",
  },
  {
    pattern: /(?<!\S)([a-z][a-z0-9]*)\s+#?([1-9]\d{0,2})(?!\S)/i,
    why: "nth and the number before the element",
    send: ({ 0: all, 1: tag, 2: number, index }, text) =>
      `${text.slice(0, index)}nth ${number} ${tag}${text.slice(index + all.length)}`,
  },
  {
    pattern: /^(·+)(?:,?\s+and|,)\s+·+.*\s(?:is|are)\s/i,
    why: "one element a sentence: send a sentence for each",
    send: ([all, first = ""], text) =>
      `${text.slice(0, first.length)} is ${text.slice(all.length)}`,
  },
];

/** Everything in quotes or backticks as dots. */
const bareWords = (text: string): string =>
  text.replace(/(?<!\w)(['"`])(?:\\.|(?!\1).)*\1(?!\w)|“[^”]*”|‘[^’]*’/g, (quoted) =>
    "·".repeat(quoted.length),
  );

/** Why a sentence is refused if it is one of these: where, what is expected, and the sentence to send. */
export function refusal(
  text: string,
  isRead: boolean,
  isSentence: (text: string) => boolean,
): { at: number; expected: string; example: string } | undefined {
  const bare = bareWords(text);
  for (const { pattern, why, send, rest = "", isSure = false } of REFUSED) {
    const found = isRead && !isSure ? null : pattern.exec(bare.trimEnd());
    if (found === null) continue;
    const instead =
      typeof send === "function"
        ? send(found, text)
        : (send ?? text.slice(0, found.index).trim() + rest);
    const at = found.index + (/\S/.exec(found[0])?.index ?? 0);
    if (typeof send === "string" || isSentence(instead))
      return { at, expected: why, example: instead };
  }
  return undefined;
}
