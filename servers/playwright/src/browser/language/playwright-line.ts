import { parseTargetUrl } from "../address.ts";
import { escaped } from "../text.ts";
import type { Argument, Call, Target } from "./ast.ts";
import { PAGE } from "./locator.ts";
import { LanguageError, Sentence, unescaped } from "./reader.ts";
import type { Action, Assertion } from "./sentences.ts";
import { readPattern } from "./values.ts";

// A line of Playwright as a sentence: `page.getByRole('button', { name: 'Save' }).click()`. It is read as data: a chain of
// calls on these lists whose arguments are literals. Nothing is evaluated, and anything else in the line is refused.

/** How many arguments a method takes, at least and at most, and the names of its options. */
type Takes = readonly [least: number, most: number, options?: string];
type Methods = Readonly<Record<string, Takes>>;

const all = (names: string, ...takes: Takes): Methods =>
  Object.fromEntries(names.split(" ").map((name) => [name, takes]));

const LOCATORS: Methods = {
  ...all("getByRole", 1, 1, "name exact level checked disabled expanded includeHidden selected"),
  ...all("getByText getByLabel getByPlaceholder getByAltText getByTitle", 1, 1, "exact"),
  ...all("getByTestId frameLocator nth or and", 1, 1),
  ...all("locator", 1, 1, "hasText hasNotText has hasNot"),
  ...all("filter", 0, 0, "hasText hasNotText has hasNot visible"),
  ...all("first last contentFrame", 0, 0),
};
const ACTIONS: Methods = {
  ...all("click dblclick tap", 0, 0, "button position modifiers clickCount"),
  ...all("hover", 0, 0, "position modifiers"),
  ...all("check uncheck clear focus scrollIntoViewIfNeeded", 0, 0),
  ...all("fill pressSequentially press dragTo selectOption setInputFiles", 1, 1),
};
const PAGE_ACTIONS: Methods = {
  ...all("goto keyboard.press", 1, 1),
  ...all("goBack reload", 0, 0),
};
const MATCHERS: Methods = {
  ...all("toBeVisible toBeHidden toBeEnabled toBeDisabled toBeEditable", 0, 0),
  ...all("toBeFocused toBeEmpty toBeAttached", 0, 0),
  ...all("toBeChecked", 0, 0, "checked"),
  ...all("toBeInViewport", 0, 0, "ratio"),
  ...all("toHaveText toContainText", 1, 1, "ignoreCase"),
  ...all("toHaveCount toHaveValue toHaveValues toHaveClass toContainClass toHaveId", 1, 1),
  ...all("toHaveRole toHaveAccessibleName", 1, 1),
  ...all("toHaveAttribute", 1, 2),
  ...all("toHaveCSS", 2, 2),
};
const PAGE_MATCHERS = all("toHaveTitle toHaveURL", 1, 1);

/** Whether a text is meant as a line of Playwright. */
export const isLine = (text: string): boolean =>
  /^(?:await\s+)?(?:page\s*\.|expect\s*\()/.test(text);

/** @throws LanguageError with the position of what is not on the lists. */
export function readLine(text: string): Action {
  const line = new Line(text);
  line.begins("await");
  if (line.begins("expect")) return { kind: "expect", assertion: readExpect(line) };
  const target = line.target({ ...ACTIONS, ...PAGE_ACTIONS });
  line.need(".");
  const { at } = line;
  const { name: method, args, options } = line.call(target === undefined ? PAGE_ACTIONS : ACTIONS);
  line.end();
  if (method === "goto") {
    const parsed = parseTargetUrl(String(args[0]), "http://localhost/");
    if (typeof parsed !== "string") return { kind: "goto", url: String(args[0]) };
    return line.fail(`an http or https URL (${parsed})`, { at });
  }
  if (method === "goBack") return { kind: "back" };
  const act = {
    ...{ method, target, on: target?.base ?? PAGE },
    args: method === "setInputFiles" ? [filesOf(args[0])] : args,
    ...(options === undefined ? {} : { options }),
  };
  return { kind: "playwright", act, line: line.plain };
}

/** Files are read by this server. */
const filesOf = (arg: Argument | undefined): Argument =>
  Array.isArray(arg) ? arg.map((file) => ({ file: String(file) })) : { file: String(arg) };

function readExpect(line: Line): Assertion {
  line.need("(");
  const target = line.target();
  line.need(")");
  line.need(".");
  const not = line.begins("not");
  if (not) line.need(".");
  const matchers = target === undefined ? PAGE_MATCHERS : MATCHERS;
  const { name: matcher, args, options } = line.call(matchers, "timeout");
  line.end();
  const { timeout, ...others } = options ?? {};
  const rest = Object.keys(others).length === 0 ? [] : [others];
  // What it reads of the element: toHaveValue its value.
  const reads = /^to(?:Have|Contain)(?!Count|Title|URL)(\w+)/.exec(matcher)?.[1]?.toLowerCase();
  const expectation = {
    ...{ on: target?.base ?? PAGE, not, matcher, args: [...args, ...rest] },
    ...(reads === undefined ? {} : { reads }),
  };
  return {
    text: line.text,
    within: typeof timeout === "number" ? timeout : undefined,
    check: { kind: "playwright", target, line: line.plain, expectation },
  };
}

type Options = { readonly [option: string]: Argument };

const STRING = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`/y;
const SECRET = /process\.env\.PW_SECRET_([A-Za-z]\w{0,63})(?:!|\s*\?\?\s*(?:''|""))?/y;
const NAME = /(?:keyboard\s*\.\s*)?\w+/y;

/** A line that is being read. */
class Line extends Sentence {
  /** Without what a spec adds. */
  get plain(): string {
    return this.text.replace(/^await\s+|;\s*$/g, "");
  }

  override fail(expected: string, { at = this.at }: { at?: number } = {}): never {
    const example = "page.getByRole('button', { name: 'Save' }).click()";
    throw new LanguageError(at, expected, `for example: ${example}`);
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

  /** The element that `page` and the locators after it name, up to one of these methods; undefined for the page. */
  target(ends: Methods = {}): Target | undefined {
    const { at } = this;
    const calls: Call[] = [];
    this.need("page");
    for (;;) {
      const name = this.peek(/\.\s*((?:keyboard\s*\.)?\s*\w+)/y)?.[1]?.replace(/\s/g, "");
      if (name === undefined || Object.hasOwn(ends, name)) break;
      this.need(".");
      const { name: locator, args, options } = this.call({ ...LOCATORS, ...ends });
      calls.push({ name: locator, args: options === undefined ? args : [...args, options] });
    }
    if (calls.length === 0) return undefined;
    const text = this.text.slice(at, this.at).replace(/\s+/g, " ").trim();
    return { text, pick: undefined, base: { kind: "element", calls }, inside: undefined };
  }

  /** A call on a list, with as many arguments and the options that it takes; `keyboard.press` is one name. */
  call(list: Methods, more = ""): Call & { readonly options: Options | undefined } {
    const { at } = this;
    const name = this.take(NAME)?.[0].replace(/\s/g, "") ?? "";
    if (!Object.hasOwn(list, name)) this.fail(Object.keys(list).join(", "), { at });
    const [least, most, names = ""] = list[name] ?? [0, 0];
    this.need("(");
    let options: Options | undefined;
    const args = this.#list(")", (): Argument[] => {
      if (options !== undefined) this.fail(")");
      if (!this.begins("{")) return [this.#value(/^(?:fill|press\w+)$/.test(name))];
      options = Object.fromEntries(this.#list("}", () => this.#option()));
      return [];
    }).flat(1);
    const allowed = `${names} ${more}`.split(" ");
    const wrong = Object.keys(options ?? {}).find((key) => !allowed.includes(key));
    if (wrong !== undefined) this.fail(`${name} without ${wrong}`, { at });
    if (args.length < least || args.length > most)
      this.fail(`${name} with ${most} ${most === 1 ? "value" : "values"}`, { at });
    return { name, args, options };
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
    const secret = takesSecret ? this.take(SECRET)?.[1] : undefined;
    if (secret !== undefined) return { secret };
    const number = this.take(/-?\d+(?:\.\d+)?(?![\w.])/y);
    if (number !== undefined) return Number(number[0]);
    if (this.begins("true")) return true;
    if (this.begins("false")) return false;
    if (this.begins("[")) return this.#list("]", () => this.#text());
    // As the position of a click.
    if (this.begins("{")) return Object.fromEntries(this.#list("}", () => this.#option()));
    if (this.peek(/page\b/y)) return { calls: this.target()?.base.calls ?? [] };
    return this.#text();
  }

  #text(): string | RegExp {
    const text = this.take(STRING)?.slice(1);
    if (text !== undefined) return unescaped(text.find((part) => part !== undefined) ?? "");
    const data = "a text, a number, a pattern or a locator; variables and code are not read";
    const { value, flags } = readPattern(this, data) ?? this.fail(data);
    return new RegExp(value, flags);
  }

  #option(): [string, Argument] {
    const { at } = this;
    const key = this.take(/[A-Za-z]\w*/y)?.[0];
    if (key === undefined || /^(?:calls|secret|file|glob|reply)$/.test(key))
      this.fail("the name of an option", { at });
    this.need(":");
    return [key, this.#value()];
  }
}
