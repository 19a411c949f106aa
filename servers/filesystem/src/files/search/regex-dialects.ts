/**
 * One regular expression in the words of two engines, so that both find the same lines.
 *
 * RE2 (here: re2js) and ripgrep's Rust engine share their grammar but for some corners: in Rust `\d \w \s \b` mean
 * Unicode, `[` in a class nests, `&& -- ~~` are set operations and `{,n}` repeats. Whatever differs is written out
 * with RE2's meaning. Both match line by line: `.` and negated classes never match a line end, `$` also stands
 * before the carriage return of a CRLF line.
 */
export interface Dialects {
  readonly re2: string;
  readonly rust: string;
}

/** A construct that the search does not take; `message` is a sentence about it. */
export class UnsupportedRegex extends Error {}

/** ASCII, as in RE2; without the line feed, which no line holds. */
const PERL: Readonly<Record<string, string>> = {
  d: "0-9",
  w: "0-9A-Za-z_",
  s: "\\x{9}\\x{c}\\x{d} ",
  D: "\\x{0}-\\x{9}\\x{b}-/:-\\x{10ffff}",
  W: "\\x{0}-\\x{9}\\x{b}-/:-@\\[-\\^`\\{-\\x{10ffff}",
  S: "\\x{0}-\\x{8}\\x{b}\\x{e}-\\x{1f}!-\\x{10ffff}",
};

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, r: 13, v: 11 };

/**
 * @param regex in RE2's syntax; whether it is well-formed is for the engine to say.
 * @throws UnsupportedRegex for what cannot match within one line or exists in one engine only.
 */
export function dialectsOf(regex: string): Dialects {
  return { re2: new Translator(regex, "re2").whole(), rust: new Translator(regex, "rust").whole() };
}

class Translator {
  readonly #text: string;
  readonly #dialect: keyof Dialects;
  #at = 0;

  constructor(text: string, dialect: keyof Dialects) {
    this.#text = text;
    this.#dialect = dialect;
  }

  whole(): string {
    let source = "";
    while (this.#at < this.#text.length) source += this.#piece();
    return source;
  }

  #piece(): string {
    const char = this.#text.charAt(this.#at);
    switch (char) {
      case "\\":
        return this.#escape();
      case "[":
        return this.#class();
      case "(":
        return this.#group();
      case "{":
        return this.#repetition();
      case ".":
        this.#at += 1;
        return "[^\\n]";
      case "$":
        this.#at += 1;
        return "(?:\\x{d}?$)";
      case "^":
      case "|":
      case ")":
      case "*":
      case "+":
      case "?":
        this.#at += 1;
        return char;
      default:
        return literal(this.#codePoint());
    }
  }

  #codePoint(): number {
    const code = this.#text.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  /** `{2,5}` stays; any other brace is a character. */
  #repetition(): string {
    const found = /^\{\d+(?:,\d*)?\}/.exec(this.#text.slice(this.#at, this.#at + 32))?.[0];
    this.#at += found?.length ?? 1;
    return found ?? "\\{";
  }

  #group(): string {
    const rest = this.#text.slice(this.#at);
    const name = /^\(\?P?<[A-Za-z_][A-Za-z0-9_]*>/.exec(rest)?.[0];
    if (name !== undefined) {
      this.#at += name.length;
      return name.replace("?<", "?P<");
    }
    const flags = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
    if (flags !== null) {
      this.#at += flags[0].length;
      return flagGroup(flags[1] ?? "", flags[2] ?? "", flags[3] ?? ":");
    }
    if (/^\(\?<?[=!]/.test(rest)) throw new UnsupportedRegex("Lookahead and lookbehind are not supported.");
    this.#at += 1;
    return "(";
  }

  #escape(): string {
    const char = this.#text.charAt(this.#at + 1);
    if (char === "Q") return this.#quoted();
    if (/[1-9]/.test(char) && !/^\\[1-7][0-7]/.test(this.#text.slice(this.#at))) {
      throw new UnsupportedRegex("Backreferences are not supported.");
    }
    const perl = PERL[char];
    if (perl !== undefined) {
      this.#at += 2;
      return `[${perl}]`;
    }
    if (char === "p" || char === "P") return this.#property();
    if (char === "b" || char === "B") {
      this.#at += 2;
      return this.#dialect === "rust" ? `(?-u:\\${char})` : `\\${char}`;
    }
    if (char === "A" || char === "z") {
      this.#at += 2;
      return char === "A" ? "^" : "(?:\\x{d}?$)";
    }
    return literal(this.#escapedCode());
  }

  /** `\Q…\E` */
  #quoted(): string {
    const end = this.#text.indexOf("\\E", this.#at + 2);
    const body = this.#text.slice(this.#at + 2, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#text.length : end + 2;
    return Array.from(body, (char) => literal(char.codePointAt(0) ?? 0)).join("");
  }

  /** `\pN`, `\p{Greek}`, `\P{…}`, `\p{^…}` */
  #property(): string {
    const found = /^\\[pP](?:\{\^?[A-Za-z_]+\}|[A-Z])/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0];
    if (found === undefined) throw new UnsupportedRegex("A Unicode class is written \\pL or \\p{Greek}.");
    this.#at += found.length;
    const negated = found.includes("{^");
    return negated
      ? found.replace("{^", "{").replace(/^\\[pP]/, (mark) => (mark === "\\p" ? "\\P" : "\\p"))
      : found;
  }

  /** The character behind a backslash at the present place. */
  #escapedCode(): number {
    const rest = this.#text.slice(this.#at, this.#at + 16);
    const code = numericEscape(rest);
    if (code !== undefined) {
      this.#at += code.length;
      return code.value;
    }
    const char = rest.charAt(1);
    if (char === "n") {
      this.#at += 2;
      return LINE_FEED;
    }
    const control = CONTROLS[char];
    if (control !== undefined) {
      this.#at += 2;
      return control;
    }
    if (/[A-Za-z0-9]/.test(char)) throw new UnsupportedRegex(`The escape \\${char} is not supported.`);
    if (char === "") throw new UnsupportedRegex("It ends with a backslash.");
    this.#at += 1;
    return this.#codePoint();
  }

  #class(): string {
    this.#at += 1;
    const negated = this.#text.charAt(this.#at) === "^";
    if (negated) this.#at += 1;
    let members = "";
    for (let first = true; first || this.#text.charAt(this.#at) !== "]"; first = false) {
      if (this.#at >= this.#text.length) throw new UnsupportedRegex("A character class, [, is not closed.");
      members += this.#member();
    }
    this.#at += 1;
    return negated ? `[^\\n${members}]` : `[${members}]`;
  }

  #member(): string {
    const posix = /^\[:\^?[a-z]+:\]/.exec(this.#text.slice(this.#at, this.#at + 16))?.[0];
    if (posix !== undefined) {
      this.#at += posix.length;
      return posix;
    }
    const next = this.#text.charAt(this.#at + 1);
    if (this.#text.charAt(this.#at) === "\\") {
      const perl = PERL[next];
      if (perl !== undefined) {
        this.#at += 2;
        return perl;
      }
      if (next === "p" || next === "P") return this.#property();
    }
    const first = this.#classCode();
    if (this.#text.charAt(this.#at) !== "-" || this.#text.charAt(this.#at + 1) === "]") return hex(first);
    this.#at += 1;
    const last = this.#classCode();
    if (last < first) throw new UnsupportedRegex("The range in a character class runs backwards.");
    return `${hex(first)}-${hex(last)}`;
  }

  #classCode(): number {
    return this.#text.charAt(this.#at) === "\\" ? this.#escapedCode() : this.#codePoint();
  }
}

const LINE_FEED = 10;

function literal(code: number): string {
  if (code === LINE_FEED) {
    throw new UnsupportedRegex("It holds a line end, but lines are searched one by one.");
  }
  const char = String.fromCodePoint(code);
  return /^[A-Za-z0-9_ ]$/.test(char) || code > 0x9f ? char : hex(code);
}

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

/** `m` and `s` would let a match cross line ends; within a line they change nothing. */
function flagGroup(on: string, off: string, end: string): string {
  const kept = (flags: string) => flags.replace(/[ms]/g, "");
  const flags = kept(on) + (kept(off) === "" ? "" : `-${kept(off)}`);
  if (end === ":") return `(?${flags}:`;
  return flags === "" ? "" : `(?${flags})`;
}

/** `\x41`, `\x{41}`, and the octal `\101`, `\0`. */
function numericEscape(text: string): { value: number; length: number } | undefined {
  const hexadecimal = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(text);
  if (hexadecimal !== null) {
    const value = Number.parseInt(hexadecimal[1] ?? hexadecimal[2] ?? "", 16);
    if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
      throw new UnsupportedRegex("A character code is out of range.");
    return { value, length: hexadecimal[0].length };
  }
  const octal = /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(text);
  return octal === null ? undefined : { value: Number.parseInt(octal[1] ?? "", 8), length: octal[0].length };
}
