/** A sentence that cannot be read: the position, what was expected there, and how to go on, such as a sentence to send. */
export class LanguageError extends Error {
  override readonly name = "LanguageError";
  readonly at: number;
  readonly expected: string;
  readonly advice: string;

  constructor(at: number, expected: string, advice: string) {
    super(`expected ${expected}`);
    this.at = at;
    this.expected = expected;
    this.advice = advice;
  }
}

/**
 * Reads a kind of value in a sentence and moves on; undefined if it is not there, after `sentence.fail` was told what
 * was expected.
 */
export type Slot<Value> = (sentence: Sentence) => Value | undefined;

/** What was expected somewhere. */
interface Miss {
  readonly at: number;
  readonly what: string;
  /** It is known what is here, and what is wrong with it. */
  readonly isSure: boolean;
  /** A sentence to send that the mistake suggests. */
  readonly example?: string | undefined;
}

/** A text in quotes; an apostrophe within a word ends it only if no other quote does: `'It's done'`. */
const STRING = /'((?:\\.|[^'\\]|(?<=\w)'(?=\w[^'"]*'(?!\w)))*)'|"((?:\\.|[^"\\])*)"/sy;

/** The quote and the backslash are escaped with a backslash; `\n` and `\t` work too. */
export const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (_, letter: string) =>
    letter === "n" ? "\n" : letter === "t" ? "\t" : letter,
  );

/** A sentence that is being read, from left to right. `at` is where a word begins, or the end. */
export class Sentence {
  readonly text: string;
  at = 0;
  /** Where the sentence stops making sense, and what was expected there. */
  misses: readonly Miss[] = [];

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  get rest(): string {
    return this.text.slice(this.at);
  }

  /** Notes what was expected at a position, by default here. */
  fail(what: string, more: Partial<Miss> = {}): undefined {
    const miss = { at: this.at, isSure: false, ...more, what };
    const [last = miss] = this.misses;
    const isFurther = miss.isSure === last.isSure ? miss.at > last.at : miss.isSure;
    if (isFurther) this.misses = [miss];
    else if (miss.at === last.at && miss.isSure === last.isSure)
      this.misses = [...this.misses, miss];
    return undefined;
  }

  /** Notes what is wrong with what is certainly meant. */
  refuse(what: string, at = this.at, example?: string): undefined {
    return this.fail(what, { at, example, isSure: true });
  }

  /** What a sticky pattern finds here. */
  peek(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text) ?? undefined;
  }

  /** Reads what a sticky pattern finds here, and the space after it. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const match = this.peek(pattern);
    if (match === undefined) return undefined;
    this.at += match[0].length;
    this.at += /^\s*/.exec(this.rest)?.[0].length ?? 0;
    return match;
  }

  /** Reads one of some words, as a form has them. */
  takeWords(words: string): boolean {
    return this.take(wordPattern(words)) !== undefined;
  }

  /** Reads with `read`; if that returns undefined, the sentence stays where it was. */
  try<Value>(read: () => Value | undefined): Value | undefined {
    const { at } = this;
    const value = read();
    if (value === undefined) this.at = at;
    return value;
  }

  get isString(): boolean {
    return /['"]/.test(this.text.charAt(this.at));
  }

  /** A text in quotes. */
  string(expected = "a text in quotes"): string | undefined {
    if (!this.isString) return this.fail(expected);
    const groups = this.take(STRING)?.slice(1);
    if (groups !== undefined) return unescaped(groups.find((group) => group !== undefined) ?? "");
    return this.refuse(`a closing ${this.text.charAt(this.at)} for the text that begins here`);
  }

  /** A text in quotes that is not empty. */
  quoted(expected?: string): string | undefined {
    const { at } = this;
    const text = this.string(expected);
    if (text?.trim() !== "") return text;
    return this.refuse("a text that is not empty", at);
  }
}

const patterns = new Map<string, RegExp>();

/** A sticky pattern for one of some words, the longest that is there; `_` is the space between two of them. */
function wordPattern(words: string): RegExp {
  const known = patterns.get(words);
  if (known !== undefined) return known;
  const longestFirst = words.split("|").sort((a, b) => b.length - a.length);
  const both = longestFirst.join("|").replace(/(does|is)_not/g, "$1(?:_not|n['’]t)");
  const pattern = new RegExp(`(?:${both.replaceAll("_", "\\s+")})(?![\\w-])`, "iy");
  patterns.set(words, pattern);
  return pattern;
}

/** The first of some words, as a message has it. */
export const firstWord = (words: string): string => words.replace(/\|.*/, "").replaceAll("_", " ");

// A form is a template of words and slots: `fill {field} with {value}`, `{from:target}` for a slot with another name,
// `[in {target}]` for a part that can be left out, `in|from` for words that mean the same, and `_` for their spaces.

type Args = Readonly<Record<string, unknown>>;
type Slots = Readonly<Record<string, Slot<unknown>>>;

/** Reads a form from here on; undefined, and the sentence stays where it was, if it has another one. */
export const readForm = (form: string, sentence: Sentence, slots: Slots): Args | undefined =>
  sentence.try(() => {
    const args: Record<string, unknown> = {};
    for (const [token, inner = ""] of form.matchAll(/\[([^\]]*)\]|\{([^}]*)\}|\S+/g)) {
      const [name = "", slot = name] = token.slice(1, -1).split(":");
      if (token.startsWith("{")) {
        args[name] = slots[slot]?.(sentence);
        if (args[name] === undefined) return undefined;
      }
      // A word that can be left out is not what was expected.
      else if (/^\[[^\s{]*$/.test(token)) sentence.takeWords(inner);
      else if (token.startsWith("[")) Object.assign(args, readForm(inner, sentence, slots));
      else if (!sentence.takeWords(token)) return sentence.fail(firstWord(token));
    }
    return args;
  });
