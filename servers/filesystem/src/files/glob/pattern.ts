import { ToolError } from "@refmcp/boundary/answer";
import { type CharacterTest, classEnd, classTest } from "./character-class.ts";

/**
 * A pattern whose matches depend on the Unicode form of accented letters (NFC, or NFD as on macOS), because it contains
 * such letters or counts characters. It is matched against text in NFC.
 */
export const HAS_FORMS = /[^\0-\x7f]|[?[]/;

/** Maximum states of a compiled pattern, since brace ranges can multiply it. */
const MAX_STATES = 50_000;
/** Maximum values of a `{1..9}` range. */
const MAX_RANGE = 1_000;
const RANGE = /^\{(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.(-?\d{1,9}))?\}/;
/** The most common patterns, `*.log` and `tmp*`, which need no states. */
const SUFFIX = /^\*([^*?[{}()\\@+!/]+)$/;
const PREFIX = /^([^*?[{}()\\@+!/]+)\*$/;

/**
 * One state of a pattern. It accepts one character and continues with the next state, with `repeats` any number of
 * characters; or it continues at each of `jumps` without a character.
 */
type State =
  | { readonly accepts: number | CharacterTest; readonly repeats: boolean }
  | { readonly jumps: readonly number[] };

const SLASH = 0x2f;
const notSlash: CharacterTest = (code) => code !== SLASH;
const any: CharacterTest = () => true;

/**
 * Compiles a glob to a function that matches a whole path with `/` between components. `*` and `?` stay within a
 * component, and `**` as a whole component matches any number of them; all match names that begin with a dot.
 *
 * It keeps all states that the text so far can have led to, so the time is linear in the text, whatever the pattern.
 * picomatch and minimatch build backtracking expressions, some of which never finish (`+(+(a)b)…`, `*a*a*a*a*…`).
 *
 * @param dialect.groups whether it may contain `{a,b}`, `{1..9}`, and the groups of extended globs: `?(…)`, `*(…)`,
 * `+(…)`, `@(…)`.
 * @throws ToolError `invalid` with the reason, for a malformed glob.
 */
export function compilePattern(glob: string, dialect: { groups: boolean }): (text: string) => boolean {
  const suffix = SUFFIX.exec(glob)?.[1];
  if (suffix !== undefined) return (text) => text.endsWith(suffix) && !text.includes("/");
  const prefix = PREFIX.exec(glob)?.[1];
  if (prefix !== undefined) return (text) => text.startsWith(prefix) && !text.includes("/");
  return matcher(new PatternParser(glob, dialect.groups).parse());
}

/** How a piece of a pattern ends: with a literal slash, with any number of whole components, or otherwise. */
type Ending = "slash" | "components" | "other";

class PatternParser {
  readonly #glob: string;
  readonly #groups: boolean;
  readonly #braces: Braces;
  readonly #states: State[] = [];
  #at = 0;

  constructor(glob: string, groups: boolean) {
    this.#glob = glob;
    this.#groups = groups;
    this.#braces = findBraces(glob);
  }

  parse(): readonly State[] {
    this.#sequence("", true);
    return this.#states;
  }

  /** Parses up to one of the characters in `ends`, which is not consumed. `begins`: whether a component begins here. */
  #sequence(ends: string, begins: boolean): Ending {
    let ending: Ending = "other";
    let atBegin = begins;
    while (this.#at < this.#glob.length) {
      const char = this.#glob.charAt(this.#at);
      if (ends.includes(char) && !(char === "}" && this.#braces.plain.has(this.#at))) break;
      ending = this.#piece(char, atBegin, ends);
      atBegin = ending !== "other";
    }
    return ending;
  }

  #piece(char: string, atBegin: boolean, ends: string): Ending {
    const next = this.#glob.charAt(this.#at + 1);
    if (this.#groups && next === "(" && "?*+@!".includes(char)) return this.#extended(char, atBegin);
    switch (char) {
      case "*":
        return this.#stars(atBegin, ends);
      case "?":
        this.#at += 1;
        return this.#add(notSlash);
      case "[":
        return this.#class();
      case "{":
        return this.#groups ? this.#brace(atBegin) : this.#literal();
      case "\\":
        if (next === "") throw this.#refusal("It ends with a backslash.");
        this.#at += 1;
        return this.#literal();
      default:
        return this.#literal();
    }
  }

  #add(accepts: number | CharacterTest, repeats = false): Ending {
    this.#push({ accepts, repeats });
    return accepts === SLASH ? "slash" : "other";
  }

  #push(state: State): void {
    if (this.#states.length === MAX_STATES) throw this.#refusal("It expands to too many alternatives.");
    this.#states.push(state);
  }

  #literal(): Ending {
    const code = this.#glob.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return this.#add(code);
  }

  #stars(atBegin: boolean, ends: string): Ending {
    const from = this.#at;
    while (this.#glob.charAt(this.#at) === "*") this.#at += 1;
    const next = this.#glob.charAt(this.#at);
    const isWhole = this.#at - from >= 2 && atBegin;
    if (isWhole && next === "/") {
      this.#at += 1;
      const start = this.#states.length;
      this.#push({ jumps: [start + 1, start + 5] });
      this.#add(notSlash);
      this.#add(notSlash, true);
      this.#add(SLASH);
      this.#push({ jumps: [start] });
      return "components";
    }
    if (isWhole && (next === "" || ends.includes(next))) {
      this.#add(any);
      return this.#add(any, true);
    }
    return this.#add(notSlash, true);
  }

  #class(): Ending {
    const end = classEnd(this.#glob, this.#at);
    if (end === undefined) return this.#literal();
    const body = this.#glob.slice(this.#at + 1, end);
    const test = classTest(body);
    if (test === undefined) throw this.#refusal(`The range in [${body}] is reversed.`);
    this.#at = end + 1;
    return this.#add(test);
  }

  /** `@(a|b)` and similar. */
  #extended(operator: string, atBegin: boolean): Ending {
    if (operator === "!")
      throw this.#refusal("A negated group, !(…), is not supported; use exclude patterns instead.");
    this.#at += 2;
    const ending = this.#group(operator, "|", ")", atBegin);
    return operator === "*" && ending === "slash" ? "components" : "other";
  }

  /** `{a,b}` or `{1..9}`; any other brace is an ordinary character. */
  #brace(atBegin: boolean): Ending {
    if (this.#braces.groups.has(this.#at)) {
      this.#at += 1;
      this.#group("@", ",", "}", atBegin);
      return "other";
    }
    const range = RANGE.exec(this.#glob.slice(this.#at, this.#at + 64));
    if (range === null) return this.#literal();
    const [whole, from = "", to = "", step = "1"] = range;
    const values = this.#rangeValues(from, to, Math.abs(Number(step)) || 1);
    if (values === undefined) return this.#literal();
    this.#at += whole.length;
    this.#alternatives("@", (index) => {
      for (const char of values[index] ?? "") this.#add(char.charCodeAt(0));
      return index + 1 < values.length;
    });
    return "other";
  }

  #rangeValues(from: string, to: string, step: number): string[] | undefined {
    const numeric = /\d/.test(from);
    if (numeric !== /\d/.test(to)) return undefined;
    const first = numeric ? Number(from) : from.charCodeAt(0);
    const last = numeric ? Number(to) : to.charCodeAt(0);
    const count = Math.floor(Math.abs(last - first) / step) + 1;
    if (count > MAX_RANGE)
      throw this.#refusal(
        `The range {${from}..${to}} has ${count} values; at most ${MAX_RANGE} are allowed.`,
      );
    const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
    return Array.from({ length: count }, (_, index) => {
      const value = first + (last < first ? -index : index) * step;
      if (!numeric) return String.fromCharCode(value);
      return value < 0 ? `-${String(-value).padStart(width - 1, "0")}` : String(value).padStart(width, "0");
    });
  }

  /** Parses a group up to and including its closing character. Returns how its last alternative ends. */
  #group(operator: string, separator: string, close: string, atBegin: boolean): Ending {
    let ending: Ending = "other";
    this.#alternatives(operator, () => {
      ending = this.#sequence(separator + close, atBegin);
      const end = this.#glob.charAt(this.#at);
      this.#at += 1;
      if (end === "") throw this.#refusal(`The group ${operator}( is not closed.`);
      return end === separator;
    });
    return ending;
  }

  /** Adds a group. `parse` adds the states of one alternative, and returns whether another one follows. */
  #alternatives(operator: string, parse: (index: number) => boolean): void {
    const start = this.#states.length;
    const starts: number[] = [];
    const ends: number[][] = [];
    this.#push({ jumps: starts });
    for (let follows = true; follows; ) {
      starts.push(this.#states.length);
      follows = parse(ends.length);
      const jumps: number[] = [];
      this.#push({ jumps });
      ends.push(jumps);
    }
    const after = this.#states.length;
    if (operator === "?" || operator === "*") starts.push(after);
    const again = operator === "*" || operator === "+" ? [start] : [];
    for (const jumps of ends) jumps.push(after, ...again);
  }

  #refusal(reason: string): ToolError {
    return invalidGlob(this.#glob, reason);
  }
}

/** The states that a text can have led to, and those after each further character as far as already computed. */
interface ActiveStates {
  readonly states: readonly number[];
  readonly next: Map<number, ActiveStates>;
}

/** Maximum numbers of states to remember in all sets together, since there can be exponentially many sets. */
const MAX_REMEMBERED = 200_000;

/** Follows all paths through the states at once. */
function matcher(states: readonly State[]): (text: string) => boolean {
  const end = states.length;
  const remembered = new Map<string, ActiveStates>();
  let size = 0;
  const start = activeFrom([0]);

  /** These states, and those that follow them without a character. */
  function activeFrom(first: readonly number[]): ActiveStates {
    const entered = new Set<number>();
    const pending = [...first];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const state = entered.has(at) ? undefined : states[at];
      entered.add(at);
      if (state === undefined) continue;
      if ("jumps" in state) pending.push(...state.jumps);
      else if (state.repeats) pending.push(at + 1);
    }
    const active = [...entered].sort((a, b) => a - b);
    const key = active.join();
    const known = remembered.get(key) ?? { states: active, next: new Map() };
    remembered.set(key, known);
    size += active.length;
    return known;
  }

  function after(active: ActiveStates, code: number): ActiveStates {
    const following: number[] = [];
    for (const index of active.states) {
      const state = states[index];
      if (state === undefined || "jumps" in state) continue;
      const { accepts, repeats } = state;
      if (typeof accepts === "number" ? accepts === code : accepts(code)) {
        following.push(repeats ? index : index + 1);
      }
    }
    if (size > MAX_REMEMBERED) {
      remembered.clear();
      start.next.clear();
      size = 0;
    }
    const next = activeFrom(following);
    active.next.set(code, next);
    return next;
  }

  return (text) => {
    let active = start;
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) ?? 0;
      if (code > 0xffff) at += 1;
      active = active.next.get(code) ?? after(active, code);
      if (active.states.length === 0) return false;
    }
    return active.states.at(-1) === end;
  };
}

/** The refusal of a glob; `reason` is a sentence. */
export function invalidGlob(glob: string, reason: string): ToolError {
  const shown = glob.length > 200 ? `${glob.slice(0, 200)}…` : glob;
  return new ToolError("invalid", `The glob ${JSON.stringify(shown)} is invalid. ${reason}`, {
    hint: "Globs support * ? ** [a-z] {a,b} and @(a|b), as in src/**/*.{ts,tsx}; a backslash makes the next character literal.",
  });
}

/** Which braces of a glob form groups. Found in one pass, so that `{{{{…` takes linear time. */
interface Braces {
  /** Positions where a group with alternatives opens. */
  readonly groups: ReadonlySet<number>;
  /** Closing braces that do not end a group: `{b}` in `{a,{b}}`. */
  readonly plain: ReadonlySet<number>;
}

function findBraces(glob: string): Braces {
  const groups = new Set<number>();
  const plain = new Set<number>();
  const open: { at: number; kind: "{" | "("; commas: boolean }[] = [];
  for (let at = 0; at < glob.length; at++) {
    const char = glob.charAt(at);
    const top = open.at(-1);
    if (char === "\\") at += 1;
    else if (char === "[") at = classEnd(glob, at) ?? at;
    else if (char === "{") open.push({ at, kind: "{", commas: false });
    // The group of an extended glob, such as @(a|b).
    else if (char === "(" && at > 0 && "?*+@!".includes(glob.charAt(at - 1)))
      open.push({ at, kind: "(", commas: false });
    else if (char === "," && top?.kind === "{") top.commas = true;
    else if (char === "}" && top?.kind === "{") {
      open.pop();
      if (top.commas) groups.add(top.at);
      else plain.add(at);
    } else if (char === ")") {
      // Braces that are still open inside the parentheses are ordinary characters.
      const opening = open.findLastIndex(({ kind }) => kind === "(");
      if (opening >= 0) open.length = opening;
    }
  }
  return { groups, plain };
}
