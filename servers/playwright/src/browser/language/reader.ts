/** A sentence that cannot be parsed: the position, what was expected there, and a valid example. */
export class LanguageError extends Error {
  override readonly name = "LanguageError";
  readonly at: number;
  readonly expected: string;
  readonly example: string;

  constructor(at: number, expected: string, example: string) {
    super(`expected ${expected}`);
    this.at = at;
    this.expected = expected;
    this.example = example;
  }
}

/** One way to read a part of a sentence: what it means, and where it ends. */
export interface Reading<Value> {
  readonly value: Value;
  readonly at: number;
}

/** Remembers what was read at a position of a sentence: many forms begin in the same way. */
export function remembered<Value>(
  read: (sentence: Sentence, at: number) => readonly Reading<Value>[],
): (sentence: Sentence, at: number) => readonly Reading<Value>[] {
  const known = new WeakMap<Sentence, Map<number, readonly Reading<Value>[]>>();
  return (sentence, at) => {
    const all = known.get(sentence) ?? new Map<number, readonly Reading<Value>[]>();
    known.set(sentence, all);
    const found = all.get(at) ?? read(sentence, at);
    all.set(at, found);
    return found;
  };
}

/** Readings of a value, as readings of what is made from it. */
export const made = <Value, Made>(
  readings: readonly Reading<Value>[],
  make: (value: Value) => Made,
): Reading<Made>[] => readings.map(({ value, at }) => ({ value: make(value), at }));

/** A kind of value in a sentence. */
export interface Slot<Value> {
  /** Every way to read it at a position; none if it is not there, after telling `sentence.fail` what was expected. */
  read(sentence: Sentence, at: number): readonly Reading<Value>[];
  print(value: Value): string;
  /** What it is, for messages. */
  readonly noun?: string;
}

/** Something that was expected at the position farthest into the sentence that any form reached. */
interface Expected {
  readonly what: string;
  readonly example: string;
  /** What to write after a word: `with` and a text. */
  readonly next: string | undefined;
  /** It is known what this is, and what is wrong with it. */
  readonly isSure: boolean;
}

const NONE: readonly Expected[] = [];
const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', "“": "”", "‘": "’" };

/** A sentence that is being read. Positions are always at its beginning, after white space, or at its end. */
export class Sentence {
  readonly text: string;
  /** A valid sentence of the form that is being tried. */
  example = "";
  /** How far any form reached. */
  readonly #reached = {
    sure: { farthest: 0, expected: NONE },
    main: { farthest: 0, expected: NONE },
  };

  constructor(text: string) {
    this.text = text;
  }

  /** Notes what was expected at a position. */
  fail(at: number, what: string, more: Partial<Omit<Expected, "what">> = {}): [] {
    const reached = this.#reached[more.isSure === true ? "sure" : "main"];
    if (at > reached.farthest) Object.assign(reached, { farthest: at, expected: NONE });
    if (at === reached.farthest && !reached.expected.some((one) => one.what === what)) {
      const one = { what, example: this.example, next: undefined, isSure: false, ...more };
      reached.expected = [...reached.expected, one];
    }
    return [];
  }

  /** Where the sentence stops making sense, and what was expected there. */
  problem() {
    const { sure, main } = this.#reached;
    return { text: this.text, ...(sure.expected.length > 0 ? sure : main) };
  }

  /** The position of the next word. */
  skip(at: number): number {
    let next = at;
    while (/\s/.test(this.text.charAt(next))) next += 1;
    return next;
  }

  rest(at: number): string {
    return this.text.slice(at);
  }

  /** What a sticky pattern finds at a position, and the position behind it. */
  take(
    at: number,
    pattern: RegExp,
  ): { readonly found: RegExpExecArray; readonly at: number } | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(this.text);
    return found === null ? undefined : { found, at: this.skip(at + found[0].length) };
  }

  /** The position behind what a sticky pattern finds. */
  end(at: number, pattern: RegExp): number | undefined {
    return this.take(at, pattern)?.at;
  }

  isString(at: number): boolean {
    return QUOTES[this.text.charAt(at)] !== undefined;
  }

  /** A quoted text; the quote and the backslash are escaped with a backslash; `\n` and `\t` work too. */
  string(at: number, expected = "a text in quotes"): Reading<string> | undefined {
    const close = QUOTES[this.text.charAt(at)];
    if (close === undefined) {
      this.fail(at, expected);
      return undefined;
    }
    let value = "";
    for (let i = at + 1; i < this.text.length; i++) {
      const letter = this.text.charAt(i);
      if (letter === close && !this.#isApostrophe(i, close)) return { value, at: this.skip(i + 1) };
      if (letter === "\\" && i + 1 < this.text.length) {
        i += 1;
        const next = this.text.charAt(i);
        value += next === "n" ? "\n" : next === "t" ? "\t" : next;
      } else value += letter;
    }
    this.fail(at, `a closing ${close} for the text that begins here`, { isSure: true });
    return undefined;
  }

  /** A text in quotes that is not empty. */
  quoted(at: number, expected?: string): Reading<string>[] {
    const text = this.string(at, expected);
    if (text === undefined || text.value.trim() !== "") return text === undefined ? [] : [text];
    return this.fail(at, "a text that is not empty", { isSure: true });
  }

  /** A text in quotes that is not empty, or a single word. */
  word(at: number, expected: string): Reading<string>[] {
    if (this.isString(at)) return this.quoted(at);
    const word = this.take(at, /[^\s'"“‘`]+/y);
    return word === undefined ? this.fail(at, expected) : [{ value: word.found[0], at: word.at }];
  }

  /** Whether a quote is within a word, and another one ends the text: `'It's done'`. */
  #isApostrophe(at: number, close: string): boolean {
    return (
      (close === "'" || close === "’") &&
      /\w/.test(this.text.charAt(at - 1)) &&
      /\w/.test(this.text.charAt(at + 1)) &&
      new RegExp(`^[^'"“‘’]*${close}(?!\\w)`).test(this.text.slice(at + 1))
    );
  }
}

export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}'`;
}
