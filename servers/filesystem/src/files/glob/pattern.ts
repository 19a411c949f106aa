import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../messages.ts";

/**
 * A pattern whose matches depend on the Unicode form of accented letters (NFC, or NFD as on macOS), because it contains
 * such letters or counts characters. It is matched against text in NFC.
 */
export const HAS_FORMS = /[^\0-\x7f]|[?[]/;

/** Maximum states of a compiled pattern, since brace ranges can multiply it. */
const MAX_STATES = 50_000;
const MAX_RANGE = 1_000;
const RANGE = /^\{(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.(-?\d{1,9}))?\}/;
/** The most common patterns, `*.log` and `tmp*`, which need no states. */
const SUFFIX = /^\*([^*?[{}()\\@+!/]+)$/;
const PREFIX = /^([^*?[{}()\\@+!/]+)\*$/;

/** Whether a pattern's class or wildcard accepts a character (a code point). */
export type CharacterTest = (code: number) => boolean;

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
export function compilePattern(
  glob: string,
  dialect: { groups: boolean },
): (text: string) => boolean {
  const suffix = SUFFIX.exec(glob)?.[1];
  if (suffix !== undefined) return (text) => text.endsWith(suffix) && !text.includes("/");
  const prefix = PREFIX.exec(glob)?.[1];
  if (prefix !== undefined) return (text) => text.startsWith(prefix) && !text.includes("/");
  return matcher(parse(glob, dialect.groups));
}

/** How a piece of a pattern ends: with a literal slash, with any number of whole components, or otherwise. */
type Ending = "slash" | "components" | "other";

function parse(glob: string, groups: boolean): readonly State[] {
  const braces = findBraces(groups ? glob : "");
  const states: State[] = [];
  let at = 0;
  sequence("", true);
  return states;

  /** Parses up to one of the characters in `ends`, which is not consumed. `begins`: whether a component begins here. */
  function sequence(ends: string, begins: boolean): Ending {
    let ending: Ending = begins ? "slash" : "other";
    let last: Ending = "other";
    while (at < glob.length) {
      const char = glob.charAt(at);
      if (ends.includes(char) && !(char === "}" && braces.plain.has(at))) break;
      last = ending = piece(char, ending !== "other", ends);
    }
    return last;
  }

  function piece(char: string, atBegin: boolean, ends: string): Ending {
    const next = glob.charAt(at + 1);
    if (groups && next === "(" && "?*+@!".includes(char)) return extended(char, atBegin);
    if (char === "*") return stars(atBegin, ends);
    if (char === "[") return characterClass();
    if (char === "{" && groups) return brace(atBegin);
    if (char === "?") {
      at += 1;
      return add(notSlash);
    }
    if (char === "\\") {
      if (next === "") throw invalidGlob(glob, "It ends with a backslash.");
      at += 1;
    }
    return literal();
  }

  function push(state: State): void {
    if (states.length === MAX_STATES)
      throw invalidGlob(glob, "It expands to too many alternatives.");
    states.push(state);
  }

  function add(accepts: number | CharacterTest, repeats = false): Ending {
    push({ accepts, repeats });
    return accepts === SLASH ? "slash" : "other";
  }

  function literal(): Ending {
    const code = glob.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    return add(code);
  }

  function stars(atBegin: boolean, ends: string): Ending {
    const from = at;
    while (glob.charAt(at) === "*") at += 1;
    const next = glob.charAt(at);
    const isWhole = at - from >= 2 && atBegin;
    if (isWhole && next === "/") {
      at += 1;
      const start = states.length;
      push({ jumps: [start + 1, start + 5] });
      add(notSlash);
      add(notSlash, true);
      add(SLASH);
      push({ jumps: [start] });
      return "components";
    }
    if (!isWhole || (next !== "" && !ends.includes(next))) return add(notSlash, true);
    add(any);
    return add(any, true);
  }

  function characterClass(): Ending {
    const end = classEnd(glob, at);
    if (end === undefined) return literal();
    const body = glob.slice(at + 1, end);
    const test = classTest(body);
    if (test === undefined) throw invalidGlob(glob, `The range in [${body}] is reversed.`);
    at = end + 1;
    return add(test);
  }

  function extended(operator: string, atBegin: boolean): Ending {
    if (operator === "!")
      throw invalidGlob(
        glob,
        "A negated group, !(…), is not supported; use exclude patterns instead.",
      );
    at += 2;
    const ending = group(operator, "|", ")", atBegin);
    return operator === "*" && ending === "slash" ? "components" : "other";
  }

  /** `{a,b}` or `{1..9}`; any other brace is an ordinary character. */
  function brace(atBegin: boolean): Ending {
    if (braces.groups.has(at)) {
      at += 1;
      group("@", ",", "}", atBegin);
      return "other";
    }
    const range = RANGE.exec(glob.slice(at, at + 64));
    const values = range === null ? undefined : rangeValues(glob, range);
    if (range === null || values === undefined) return literal();
    at += range[0].length;
    alternatives("@", (index) => {
      for (const char of values[index] ?? "") add(char.charCodeAt(0));
      return index + 1 < values.length;
    });
    return "other";
  }

  /** Parses a group up to and including its closing character. Returns how its last alternative ends. */
  function group(operator: string, separator: string, close: string, atBegin: boolean): Ending {
    let ending: Ending = "other";
    alternatives(operator, () => {
      ending = sequence(separator + close, atBegin);
      const end = glob.charAt(at);
      at += 1;
      if (end === "") throw invalidGlob(glob, `The group ${operator}( is not closed.`);
      return end === separator;
    });
    return ending;
  }

  /** Adds a group. `parseOne` adds the states of one alternative, and returns whether another one follows. */
  function alternatives(operator: string, parseOne: (index: number) => boolean): void {
    const start = states.length;
    const starts: number[] = [];
    const ends: number[][] = [];
    push({ jumps: starts });
    for (let follows = true; follows; ) {
      starts.push(states.length);
      follows = parseOne(ends.length);
      const jumps: number[] = [];
      push({ jumps });
      ends.push(jumps);
    }
    const after = states.length;
    if (operator === "?" || operator === "*") starts.push(after);
    const again = operator === "*" || operator === "+" ? [start] : [];
    for (const jumps of ends) jumps.push(after, ...again);
  }
}

/** The values of a range, `{1..9}` or `{a..e}`; undefined if its ends are of different types. */
function rangeValues(glob: string, [, from = "", to = "", step = "1"]: readonly string[]) {
  const numeric = /\d/.test(from);
  if (numeric !== /\d/.test(to)) return undefined;
  const first = numeric ? Number(from) : from.charCodeAt(0);
  const last = numeric ? Number(to) : to.charCodeAt(0);
  const by = Math.abs(Number(step)) || 1;
  const count = Math.floor(Math.abs(last - first) / by) + 1;
  if (count > MAX_RANGE) {
    const allowed = `at most ${MAX_RANGE} are allowed`;
    throw invalidGlob(glob, `The range {${from}..${to}} has ${count} values; ${allowed}.`);
  }
  const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  return Array.from({ length: count }, (_, index) => {
    const value = first + (last < first ? -index : index) * by;
    if (!numeric) return String.fromCharCode(value);
    return value < 0
      ? `-${String(-value).padStart(width - 1, "0")}`
      : String(value).padStart(width, "0");
  });
}

/** The states that a text can have led to, and those after each further character as far as already computed. */
interface ActiveStates {
  readonly states: readonly number[];
  readonly next: Map<number, ActiveStates>;
}

/** Maximum numbers of states to remember in all sets together, since there can be exponentially many sets. */
const MAX_REMEMBERED = 200_000;

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
    const following = active.states.flatMap((index) => {
      const state = states[index];
      if (state === undefined || "jumps" in state) return [];
      const { accepts, repeats } = state;
      const isAccepted = typeof accepts === "number" ? accepts === code : accepts(code);
      return isAccepted ? [repeats ? index : index + 1] : [];
    });
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
  return failure("bad_glob", `The glob ${JSON.stringify(shown)} is invalid. ${reason}`);
}

/**
 * Which braces of a glob form groups: the positions where one with alternatives opens, and closing braces that do not
 * end one (`{b}` in `{a,{b}}`). Found in one pass, so that `{{{{…` takes linear time.
 */
function findBraces(glob: string) {
  const groups = new Set<number>();
  const plain = new Set<number>();
  const open: { at: number; kind: "{" | "("; commas: boolean }[] = [];
  for (let at = 0; at < glob.length; at++) {
    const char = glob.charAt(at);
    const top = open.at(-1);
    if (char === "\\") at += 1;
    else if (char === "[") at = classEnd(glob, at) ?? at;
    else if (char === "{") open.push({ at, kind: char, commas: false });
    // The group of an extended glob, such as @(a|b).
    else if (char === "(" && at > 0 && "?*+@!".includes(glob.charAt(at - 1)))
      open.push({ at, kind: char, commas: false });
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

/**
 * The ranges of each named class in a bracket expression, `[[:alpha:]]` (POSIX.1-2017 XCU 2.13.1 and gitignore(5)): pairs
 * of the first and the last character.
 */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "09AZaz",
  alpha: "AZaz",
  ascii: "\0\x7f",
  blank: "\t\t  ",
  cntrl: "\0\x1f\x7f\x7f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "\t\r  ",
  upper: "AZ",
  word: "09AZ__az",
  xdigit: "09AFaf",
};
const POSIX_CLASS = `\\[:(${Object.keys(POSIX_CLASSES).join("|")}):\\]`;
/** A bracket expression. A bracket in the first position is a member. */
const CLASS = new RegExp(
  `\\[(?:[!^]|(?![!^]))(?:\\]|(?!\\]))(?:${POSIX_CLASS}|\\\\[^]|(?!${POSIX_CLASS})[^\\]\\\\])*\\]`,
  "y",
);
/** A named class, a character or a range; a backslash makes the next character literal. */
const MEMBER = new RegExp(`${POSIX_CLASS}|(?:\\\\(?=.))?(.)(?:-(?:\\\\(?=.))?(.))?`, "gsu");

/** Where the class that opens at `start` closes; undefined if it does not, so `[` is an ordinary character. */
export function classEnd(glob: string, start: number): number | undefined {
  CLASS.lastIndex = start;
  return CLASS.test(glob) ? CLASS.lastIndex - 1 : undefined;
}

/** The test for the body of a class, which never accepts `/`; undefined if a range is reversed, `[z-a]`. */
export function classTest(body: string): CharacterTest | undefined {
  const negated = /^[!^]/.test(body);
  const ranges: [first: number, last: number][] = [];
  for (const [, name, from = "", to = from] of body.slice(negated ? 1 : 0).matchAll(MEMBER)) {
    const pairs = name === undefined ? [from, to] : Array.from(POSIX_CLASSES[name] ?? "");
    for (let at = 0; at < pairs.length; at += 2)
      ranges.push([pairs[at]?.codePointAt(0) ?? 0, pairs[at + 1]?.codePointAt(0) ?? 0]);
  }
  if (ranges.some(([first, last]) => last < first)) return undefined;
  return (code) =>
    code !== SLASH && negated !== ranges.some(([first, last]) => first <= code && code <= last);
}
