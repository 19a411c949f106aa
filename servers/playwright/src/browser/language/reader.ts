import { nearest } from "@refmcp/boundary/answer";

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

/** Maximum length of a sentence. */
export const MAX_SENTENCE_CHARS = 2_000;

const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', "“": "”", "‘": "’" };

/** Parses a sentence of the assertion or step language from left to right. */
export class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
    this.skipSpace();
  }

  get rest(): string {
    return this.text.slice(this.at);
  }

  get atEnd(): boolean {
    return this.at >= this.text.length;
  }

  skipSpace(): void {
    while (/\s/.test(this.text.charAt(this.at))) this.at += 1;
  }

  /** Whether these whole words come next, in any letter case. */
  sees(words: string): boolean {
    return this.#lengthOf(words) !== undefined;
  }

  /** Consumes the words if they come next. */
  takes(words: string): boolean {
    const length = this.#lengthOf(words);
    if (length === undefined) return false;
    this.at += length;
    this.skipSpace();
    return true;
  }

  /** Consumes the first of the phrases that comes next. */
  takesOneOf<Phrase extends string>(phrases: readonly Phrase[]): Phrase | undefined {
    return phrases.find((phrase) => this.takes(phrase));
  }

  #lengthOf(words: string): number | undefined {
    const pattern = `^${words.split(" ").map(escaped).join("\\s+")}(?![\\w-])`;
    return new RegExp(pattern, "i").exec(this.rest)?.[0].length;
  }

  /** Consumes what the pattern (anchored at its beginning) matches here. */
  takesPattern(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.rest);
    if (found === null || found.index !== 0) return undefined;
    this.at += found[0].length;
    this.skipSpace();
    return found;
  }

  isAtString(): boolean {
    return QUOTES[this.text.charAt(this.at)] !== undefined;
  }

  /** A quoted text; the quote and the backslash are escaped with a backslash; `\n` and `\t` work too. */
  string(example: string, expected = "a text in quotes"): string {
    const close = QUOTES[this.text.charAt(this.at)];
    if (close === undefined) throw this.error(expected, example);
    const start = this.at;
    let value = "";
    for (let i = start + 1; i < this.text.length; i++) {
      const letter = this.text.charAt(i);
      if (letter === close) {
        this.at = i + 1;
        this.skipSpace();
        return value;
      }
      if (letter === "\\" && i + 1 < this.text.length) {
        i += 1;
        const next = this.text.charAt(i);
        value += next === "n" ? "\n" : next === "t" ? "\t" : next;
      } else value += letter;
    }
    throw new LanguageError(start, `a closing ${close} for the text that begins here`, example);
  }

  /** Requires that nothing is left. */
  end(expected: string, example: string): void {
    if (!this.atEnd) throw this.error(expected, example);
  }

  error(expected: string, example: string): LanguageError {
    return new LanguageError(this.at, expected, example);
  }

  /** What was expected, with a suggestion if one of `words` is similar to the next word. */
  unknownWord(expected: string, words: readonly string[], example: string): LanguageError {
    const heads = [/^[\w-]+\s+[\w-]+/, /^[\w-]+/].flatMap((head) => head.exec(this.rest)?.[0] ?? []);
    const near = heads.flatMap((head) => nearest(head, words, 1))[0];
    return this.error(near === undefined ? expected : `${expected} (did you mean ${near}?)`, example);
  }
}

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** A problem for the caller: the sentence, a caret below the position, what was expected there, and an example. */
export function caretText(label: string, text: string, error: LanguageError): string {
  const flat = text.replace(/\s/g, " ");
  const from = Math.max(0, error.at - 60);
  const shown = `${from > 0 ? "…" : ""}${flat.slice(from, error.at + 60)}`;
  const caret = " ".repeat(error.at - from + (from > 0 ? 1 : 0));
  return `${label} cannot be parsed:\n  ${shown}\n  ${caret}^ expected ${error.expected}\n  for example: ${error.example}`;
}
