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

/** A kind of value in a sentence. */
export interface Slot<Value> {
  /** Reads it and moves on; undefined if it is not there, after `sentence.fail` was told what was expected. */
  read(sentence: Sentence): Value | undefined;
}

interface Expected {
  readonly what: string;
  /** A sentence to send that the mistake suggests. */
  readonly example: string | undefined;
}

interface Reached {
  at: number;
  expected: Expected[];
}

const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', "“": "”", "‘": "’" };

/** A sentence that is being read, from left to right. `at` is where a word begins, or the end. */
export class Sentence {
  readonly text: string;
  at = 0;
  /** How far any form came; `sure`: where it is known what something is, and what is wrong with it. */
  readonly #reached: { readonly main: Reached; readonly sure: Reached } = {
    main: { at: 0, expected: [] },
    sure: { at: 0, expected: [] },
  };

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
  fail(what: string, more: { at?: number; isSure?: boolean; example?: string } = {}): undefined {
    const { at = this.at, isSure = false, example } = more;
    const reached = this.#reached[isSure ? "sure" : "main"];
    if (at > reached.at) Object.assign(reached, { at, expected: [] });
    if (at === reached.at && !reached.expected.some((one) => one.what === what))
      reached.expected.push({ what, example });
    return undefined;
  }

  /** Where the sentence stops making sense, and what was expected there. */
  get problem(): Reached & { readonly isSure: boolean } {
    const { main, sure } = this.#reached;
    const isSure = sure.expected.length > 0;
    return { ...(isSure ? sure : main), isSure };
  }

  /** Reads what a sticky pattern finds here, and the space after it. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.#moveTo(this.at + found[0].length);
    return found;
  }

  /** Reads with `read`; if that returns undefined, the sentence stays where it was. */
  try<Value>(read: () => Value | undefined): Value | undefined {
    const { at } = this;
    const value = read();
    if (value === undefined) this.at = at;
    return value;
  }

  get isString(): boolean {
    return QUOTES[this.text.charAt(this.at)] !== undefined;
  }

  /** A text in quotes. The quote and the backslash are escaped with a backslash; `\n` and `\t` work too. */
  string(expected = "a text in quotes"): string | undefined {
    const close = QUOTES[this.text.charAt(this.at)];
    if (close === undefined) return this.fail(expected);
    let value = "";
    for (let i = this.at + 1; i < this.text.length; i++) {
      const letter = this.text.charAt(i);
      if (letter === close && !this.#isApostrophe(i, close)) {
        this.#moveTo(i + 1);
        return value;
      }
      if (letter === "\\" && i + 1 < this.text.length) {
        i += 1;
        const next = this.text.charAt(i);
        value += next === "n" ? "\n" : next === "t" ? "\t" : next;
      } else value += letter;
    }
    return this.fail(`a closing ${close} for the text that begins here`, { isSure: true });
  }

  /** A text in quotes that is not empty. */
  quoted(expected?: string): string | undefined {
    const { at } = this;
    const text = this.string(expected);
    if (text?.trim() !== "") return text;
    return this.fail("a text that is not empty", { at, isSure: true });
  }

  /** A text in quotes that is not empty, or a single word. */
  word(expected: string): string | undefined {
    if (this.isString) return this.quoted();
    return this.take(/[^\s'"“‘`]+/y)?.[0] ?? this.fail(expected);
  }

  #moveTo(at: number): void {
    this.at = at + (/^\s*/.exec(this.text.slice(at))?.[0].length ?? 0);
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

/** A sticky pattern for one of some words, the longest that is there; `_` is the space between two of them. */
export function wordPattern(words: string): RegExp {
  const longestFirst = words.split("|").sort((a, b) => b.length - a.length);
  return new RegExp(`(?:${longestFirst.join("|").replaceAll("_", "\\s+")})(?![\\w-])`, "iy");
}

// A form is a template of words and slots: `fill {field} with {value}`, `{from:target}` for a slot with another name,
// `[in {target}]` for a part that can be left out, `in|from` for words that mean the same, and `_` for their spaces.

type Args = Readonly<Record<string, unknown>>;
type Slots = Readonly<Record<string, Slot<unknown>>>;

type Node =
  | { readonly word: string; readonly pattern: RegExp }
  | { readonly name: string; readonly slot: string }
  | { readonly optional: readonly Node[] };

const compiled = new Map<string, readonly Node[]>();

function compile(form: string): readonly Node[] {
  const known = compiled.get(form);
  if (known !== undefined) return known;
  const nodes = form
    .split(/(\[[^\]]*\])/)
    .flatMap((part): Node[] =>
      part.startsWith("[") ? [{ optional: nodesOf(part.slice(1, -1)) }] : nodesOf(part),
    );
  compiled.set(form, nodes);
  return nodes;
}

const nodesOf = (part: string): Node[] =>
  (part.match(/\{[^}]*\}|[^\s{}]+/g) ?? []).map((token) => {
    if (!token.startsWith("{")) {
      const [word = ""] = token.replaceAll("_", " ").split("|");
      return { word, pattern: wordPattern(token) };
    }
    const [name = "", slot = name] = token.slice(1, -1).split(":");
    return { name, slot };
  });

/** Reads a form from here on; undefined, and the sentence stays where it was, if it has another one. */
export const readForm = (form: string, sentence: Sentence, slots: Slots): Args | undefined =>
  sentence.try(() => readNodes(compile(form), sentence, slots));

function readNodes(nodes: readonly Node[], sentence: Sentence, slots: Slots): Args | undefined {
  const args: Record<string, unknown> = {};
  for (const node of nodes) {
    if ("optional" in node) {
      const [only, ...others] = node.optional;
      // A word that can be left out is not what was expected.
      if (only !== undefined && "word" in only && others.length === 0) sentence.take(only.pattern);
      else
        Object.assign(
          args,
          sentence.try(() => readNodes(node.optional, sentence, slots)),
        );
    } else if ("word" in node) {
      if (sentence.take(node.pattern) !== undefined) continue;
      return sentence.fail(node.word);
    } else {
      const value = slots[node.slot]?.read(sentence);
      if (value === undefined) return undefined;
      args[node.name] = value;
    }
  }
  return args;
}
