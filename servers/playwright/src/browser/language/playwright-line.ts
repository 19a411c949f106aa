import { parseTargetUrl } from "../address.ts";
import { escaped } from "../text.ts";
import type { Act, Argument, Call, Target } from "./ast.ts";
import { PAGE } from "./locator.ts";
import { LanguageError, Sentence } from "./reader.ts";
import type { Action, Assertion } from "./sentences.ts";
import { readPattern } from "./values.ts";

// A line of Playwright as a sentence: `page.getByRole('button', { name: 'Save' }).click()`. It is read as data: a chain of
// calls on these lists whose arguments are literals. Nothing is evaluated, and anything else in the line is refused.

/** How many arguments a method takes, at least and at most, and the names of its options. */
type Takes = readonly [least: number, most: number, options?: string];
type Methods = Readonly<Record<string, Takes>>;

const NOTHING: Takes = [0, 0];
const ONE: Takes = [1, 1];
const BY_TEXT: Takes = [1, 1, "exact"];
const LOCATORS: Methods = {
  getByRole: [1, 1, "name exact level checked disabled expanded includeHidden selected"],
  ...{ getByText: BY_TEXT, getByLabel: BY_TEXT, getByPlaceholder: BY_TEXT },
  ...{ getByAltText: BY_TEXT, getByTitle: BY_TEXT, getByTestId: ONE },
  locator: [1, 1, "hasText hasNotText has hasNot"],
  filter: [0, 0, "hasText hasNotText has hasNot visible"],
  ...{ first: NOTHING, last: NOTHING, contentFrame: NOTHING },
  ...{ frameLocator: ONE, nth: ONE, or: ONE, and: ONE },
};

const CLICK: Takes = [0, 0, "button position modifiers clickCount"];
const ACTIONS: Methods = {
  ...{ click: CLICK, dblclick: CLICK, tap: CLICK, hover: [0, 0, "position modifiers"] },
  ...{ check: NOTHING, uncheck: NOTHING, clear: NOTHING, focus: NOTHING },
  ...{ scrollIntoViewIfNeeded: NOTHING, fill: ONE, pressSequentially: ONE, press: ONE },
  ...{ dragTo: ONE, selectOption: ONE, setInputFiles: ONE },
};

const PAGE_ACTIONS: Methods = {
  ...{ goto: ONE, goBack: NOTHING, reload: NOTHING, "keyboard.press": ONE },
};

const TEXT: Takes = [1, 1, "ignoreCase"];
const MATCHERS: Methods = {
  ...{ toBeVisible: NOTHING, toBeHidden: NOTHING, toBeEnabled: NOTHING, toBeDisabled: NOTHING },
  ...{ toBeEditable: NOTHING, toBeFocused: NOTHING, toBeEmpty: NOTHING, toBeAttached: NOTHING },
  ...{ toBeChecked: [0, 0, "checked"], toBeInViewport: [0, 0, "ratio"], toHaveCount: ONE },
  ...{ toHaveText: TEXT, toContainText: TEXT, toHaveValue: ONE, toHaveValues: ONE },
  ...{ toHaveClass: ONE, toContainClass: ONE, toHaveId: ONE, toHaveAttribute: [1, 2] },
  ...{ toHaveCSS: [2, 2], toHaveRole: ONE, toHaveAccessibleName: ONE },
};
const PAGE_MATCHERS: Methods = { toHaveTitle: ONE, toHaveURL: ONE };

/** Whether a text is meant as a line of Playwright. */
export const isLine = (text: string): boolean =>
  /^(?:await\s+)?(?:page\s*\.|expect\s*\()/.test(text);

/** @throws LanguageError with the position of what is not on the lists. */
export function readLineStep(text: string): Action {
  const line = new Line(text);
  if (line.begins("expect")) return { kind: "expect", assertion: readExpect(line) };
  line.need("page");
  const start = line.at;
  const { calls, at } = line.chain();
  const last = calls.pop() ?? line.fail("a call, such as click()");
  line.end();
  line.allow(last, calls.length > 0 ? ACTIONS : PAGE_ACTIONS, at);
  const [first] = last.args;
  if (last.name === "goto") {
    const parsed = parseTargetUrl(String(first), "http://localhost/");
    if (typeof parsed !== "string") return { kind: "goto", url: String(first) };
    return line.fail(`an http or https URL (${parsed})`, at);
  }
  if (last.name === "goBack") return { kind: "back" };
  const { method, args, options } = split(last);
  const given = method === "setInputFiles" ? [filesOf(args[0])] : args;
  const act: Act = {
    ...{ method, args: given, timed: method === "reload" },
    ...(options === undefined ? {} : { options }),
    on: calls.length > 0 ? { calls } : PAGE,
    target: calls.length > 0 ? targetOf(calls, `page${text.slice(start, at - 1)}`) : undefined,
  };
  return { kind: "playwright", act, line: line.plain };
}

/** Files are read by this server. */
const filesOf = (given: Argument | undefined): Argument =>
  Array.isArray(given) ? given.map((one) => ({ file: String(one) })) : { file: String(given) };

/** @throws LanguageError as `readLineStep` does. */
export function readLineCheck(text: string): Assertion {
  const line = new Line(text);
  if (!line.begins("expect")) line.fail("expect(…), since this is an assertion", 0);
  return readExpect(line);
}

function readExpect(line: Line): Assertion {
  const { text } = line;
  line.need("(");
  const start = line.at;
  line.need("page");
  const calls = line.locator();
  const target = calls.length === 0 ? undefined : targetOf(calls, text.slice(start, line.at));
  line.need(")");
  line.need(".");
  const not = line.begins("not");
  if (not) line.need(".");
  const { at } = line;
  const matcher = line.call();
  line.end();
  line.allow(matcher, target === undefined ? PAGE_MATCHERS : MATCHERS, at, "timeout");
  const { method, args, options: { timeout, ...options } = {} } = split(matcher);
  const rest = Object.keys(options).length === 0 ? [] : [options];
  // What it reads of the element: toHaveValue its value.
  const reads = /^to(?:Have|Contain)(?!Count|Title|URL)(\w+)/.exec(method)?.[1]?.toLowerCase();
  return {
    ...{ text, negated: false },
    within: typeof timeout === "number" ? timeout : undefined,
    check: {
      ...{ kind: "playwright", target, line: line.plain },
      expectation: {
        ...{ on: { calls }, not, matcher: method, args: [...args, ...rest] },
        ...(reads === undefined ? {} : { reads }),
      },
    },
  };
}

const targetOf = (calls: readonly Call[], text: string): Target => ({
  pick: undefined,
  base: { kind: "locator", calls, text: text.replace(/\s+/g, " ").trim() },
  inside: undefined,
});

/** The options of a call are its last argument. */
function split({ name, args }: Call): Pick<Act, "method" | "args" | "options"> {
  const last = args.at(-1);
  if (!isOptions(last)) return { method: name, args };
  return { method: name, args: args.slice(0, -1), options: last };
}

const isOptions = (one: unknown): one is Readonly<Record<string, Argument>> =>
  Object.getPrototypeOf(Object(one)) === Object.prototype &&
  !["calls", "secret"].some((key) => Object.hasOwn(Object(one), key));

const STRING = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`/y;
const SECRET = /process\.env\.PW_SECRET_([A-Za-z]\w{0,63})(?:!|\s*\?\?\s*(?:''|""))?/y;
const MAX_DEPTH = 8;

/** A line that is being read. */
class Line extends Sentence {
  #depth = 0;

  constructor(text: string) {
    super(text);
    this.begins("await");
  }

  /** Without what a spec adds. */
  get plain(): string {
    return this.text.replace(/^await\s+|;\s*$/g, "");
  }

  override fail(expected: string, at: number | { readonly at?: number } = this.at): never {
    const example = "page.getByRole('button', { name: 'Save' }).click()";
    const from = typeof at === "number" ? at : (at.at ?? this.at);
    throw new LanguageError(from, expected, `for example: ${example}`);
  }

  /** Reads a word or sign if it is here. */
  begins(sign: string): boolean {
    const end = /\w$/.test(sign) ? "(?!\\w)" : "";
    return this.take(new RegExp(escaped(sign) + end, "y")) !== undefined;
  }

  need(sign: string): void {
    if (!this.begins(sign)) this.fail(sign);
  }

  end(): void {
    this.begins(";");
    if (!this.isAtEnd) this.fail("the end of the line: one call a line");
  }

  /** The calls after `page`, all but the last checked, and where that begins. */
  chain(): { calls: Call[]; at: number } {
    const calls: Call[] = [];
    let { at } = this;
    while (this.begins(".")) {
      for (const one of calls.slice(-1)) this.allow(one, LOCATORS, at);
      at = this.at;
      calls.push(this.call());
    }
    return { calls, at };
  }

  /** The calls after `page`, all of them locators. */
  locator(): Call[] {
    const { calls, at } = this.chain();
    for (const one of calls.slice(-1)) this.allow(one, LOCATORS, at);
    return calls;
  }

  /** A name and its arguments; `keyboard.press` is one name. */
  call(): Call {
    const name = this.take(/(?:keyboard\s*\.\s*)?[A-Za-z]\w*/y)?.[0].replace(/\s/g, "");
    if (name === undefined) this.fail("the name of a method");
    this.need("(");
    return { name, args: this.#list(")", () => this.#value(/^(?:fill|press\w+)$/.test(name))) };
  }

  /** What `read` reads, up to a sign. */
  #list<Item>(close: string, read: () => Item): Item[] {
    const all: Item[] = [];
    for (let isMore = true; !this.begins(close); isMore = this.begins(",")) {
      if (!isMore) this.fail(`, or ${close}`);
      all.push(read());
    }
    return all;
  }

  #value(takesSecret = false): Argument {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.fail("less in one line");
    const secret = takesSecret ? this.take(SECRET)?.[1] : undefined;
    const value = secret === undefined ? this.#literal() : { secret };
    this.#depth -= 1;
    return value;
  }

  #literal(): Argument {
    const text = this.take(STRING);
    if (text !== undefined) return unescaped(text[1] ?? text[2] ?? text[3] ?? "");
    const number = this.take(/-?\d+(?:\.\d+)?(?![\w.])/y);
    if (number !== undefined) return Number(number[0]);
    if (this.begins("true")) return true;
    if (this.begins("false")) return false;
    if (this.begins("[")) return this.#list("]", () => this.#value());
    if (this.begins("{")) return Object.fromEntries(this.#list("}", () => this.#option()));
    if (this.begins("page")) return { calls: this.locator() };
    const { at } = this;
    const data = "a text, a number, a pattern or a locator; variables and code are not read";
    const { value, flags } = readPattern(this, data) ?? this.fail(data, at);
    return new RegExp(value, flags);
  }

  #option(): [string, Argument] {
    const { at } = this;
    const key = this.take(/[A-Za-z]\w*/y)?.[0];
    if (key === undefined || /^(?:calls|secret|file|glob|reply)$/.test(key))
      this.fail("the name of an option", at);
    this.need(":");
    return [key, this.#value()];
  }

  /** @throws LanguageError unless a call is on the list, with as many arguments and the options that it takes. */
  allow(call: Call, list: Methods, at: number, more = ""): void {
    const { name } = call;
    if (!Object.hasOwn(list, name)) this.fail(Object.keys(list).join(", "), at);
    const [least, most, names = ""] = list[name] ?? NOTHING;
    const { args, options = {} } = split(call);
    const wrong = Object.keys(options).find((key) => !`${names} ${more}`.split(" ").includes(key));
    if (wrong !== undefined) this.fail(`${name} without ${wrong}`, at);
    if (args.length < least || args.length > most || args.some(isOptions))
      this.fail(`${name} with ${most} ${most === 1 ? "value" : "values"} in its parentheses`, at);
  }
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (_, letter: string) =>
    letter === "n" ? "\n" : letter === "t" ? "\t" : letter,
  );
