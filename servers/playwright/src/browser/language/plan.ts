import { isJson } from "@refmcp/boundary/answer";
import type {
  Base,
  FillValue,
  Meaning,
  Point,
  Reply,
  RequestPattern,
  Target,
  TextComparison,
} from "./ast.ts";
import { escaped } from "./matching.ts";

/** One call of Playwright's API: `getByRole("button", { name: "Save" })`. */
export interface Call {
  readonly name: string;
  readonly args: readonly Argument[];
}

/** A locator: a chain of calls on the page. An empty chain is the page itself. */
export interface Chain {
  readonly calls: readonly Call[];
}

/** A route's response to requests with this method, or with any. */
export interface Answer {
  readonly method?: string | undefined;
  readonly reply: Reply;
  /** After this time in milliseconds. */
  readonly delay?: number | undefined;
}

export type Argument =
  | string
  | number
  | boolean
  | RegExp
  | Chain
  /** A value that only the server knows. */
  | { readonly secret: string }
  /** A file that it may read. */
  | { readonly file: string }
  /** The requests that a route handles. */
  | { readonly glob: string }
  | Answer
  | readonly Argument[]
  | { readonly [option: string]: string | number | boolean | Point };

/** An assertion in Playwright: `expect(on).not.matcher(...args)`. A run executes it, a spec prints it. */
export interface Expectation {
  readonly on: Chain;
  /** Polls a value instead of asking the locator: the number of elements, or whether the element matches a selector. */
  readonly polls?: "count" | { readonly css: string };
  readonly not: boolean;
  readonly matcher: string;
  readonly args: readonly Argument[];
  /** What it reads of the element, for messages; undefined for its state, existence and number. */
  readonly reads?: string;
}

/** A timeout in milliseconds that allows one check: Playwright checks once before looking at the clock. */
export const ONCE = 1;

/** An action in Playwright: `on.method(...args, options)`. */
export interface Act {
  readonly on: Chain;
  /** A method of the page or locator; on the page also a path to one: `keyboard.press`, `context().setOffline`. */
  readonly method: string;
  readonly args: readonly Argument[];
  readonly options?: { readonly button: "right" } | { readonly position: Point };
  readonly timed?: boolean;
  /** The element to name in messages; undefined for the page itself. */
  readonly target: Target | undefined;
}

export const isChain = (one: unknown): one is Chain => has(one, "calls");
export const isMatch = (one: unknown): one is { readonly glob: string } => has(one, "glob");
export const isAnswer = (one: unknown): one is Answer => has(one, "reply");
const has = (one: unknown, key: string) => typeof one === "object" && one !== null && key in one;

export const PAGE: Chain = { calls: [] };

export function chainOf(target: Target, meaning: Meaning = "text"): Chain {
  const root = target.inside === undefined ? PAGE : chainOf(target.inside);
  const inner =
    target.containing === undefined ? [] : [call("filter", { hasText: target.containing })];
  const calls = [...root.calls, ...baseCalls(target.base, root, meaning), ...inner];
  if (target.pick === undefined) return { calls };
  const pick = typeof target.pick === "number" ? call("nth", target.pick - 1) : call(target.pick);
  return { calls: [...calls, pick] };
}

export const call = (name: string, ...args: Argument[]): Call => ({ name, args });

const BY_TEXT = {
  text: "getByText",
  label: "getByLabel",
  placeholder: "getByPlaceholder",
  alt: "getByAltText",
  title: "getByTitle",
} as const;

function baseCalls(base: Base, root: Chain, meaning: Meaning): Call[] {
  const or = (...calls: Call[]) => call("or", { calls: [...root.calls, ...calls] });
  const named = (method: string, text: string, exact: boolean) =>
    call(method, text, ...(exact ? [{ exact: true }] : []));
  const field = (text: string, exact: boolean) => [
    named("getByLabel", text, exact),
    or(named("getByPlaceholder", text, exact)),
  ];
  switch (base.kind) {
    case "css":
      return [call("locator", base.css)];
    case "frame": {
      const name = JSON.stringify(base.text);
      return [
        call(
          "frameLocator",
          ["title", "name", "id"].map((one) => `iframe[${one}=${name}]`).join(", "),
        ),
      ];
    }
    case "role": {
      const { role, name, exact, level } = base;
      const options = {
        ...(name === undefined ? {} : { name }),
        ...(exact ? { exact } : {}),
        ...(level === undefined ? {} : { level }),
      };
      return [call("getByRole", role, ...(Object.keys(options).length === 0 ? [] : [options]))];
    }
    case "testid":
      return [call("getByTestId", base.text)];
    case "element": {
      const slug = base.text.replace(/[^\p{L}\d_-]+/gu, "-");
      const name = /\s/.test(base.text) ? slug.toLowerCase() : slug;
      const css = `[id="${name}"], [class~="${name}"], [aria-label=${JSON.stringify(base.text)} i]`;
      return [call("getByTestId", name), or(call("locator", css))];
    }
    case "field":
      return base.text === undefined
        ? [call("getByRole", "textbox")]
        : field(base.text, base.exact);
    case "quoted": {
      const { text, exact } = base;
      const byRole = (role: string) =>
        call("getByRole", role, exact ? { name: text, exact } : { name: text });
      if (meaning === "text") return [named("getByText", text, exact)];
      // One whose name is not its text, such as an icon's: the text itself can be in a deeper element.
      const nameOnly = (role: string) => or(byRole(role), call("filter", { hasNotText: text }));
      if (meaning === "clickable")
        return [named("getByText", text, exact), nameOnly("button"), nameOnly("link")];
      return meaning === "field"
        ? field(text, exact)
        : [...field(text, exact), or(byRole("button"))];
    }
    default:
      return [named(BY_TEXT[base.kind], base.text, base.exact)];
  }
}

/** A pattern that finds a text, its white space as a reader sees it. */
export function containing(text: string): RegExp {
  return new RegExp(text.trim().split(/\s+/).map(escaped).join("\\s+"));
}

/** The expected value, for matchers that take a whole text or a pattern. */
export function expected({ how, value, flags }: TextComparison): string | RegExp {
  if (how === "is") return value;
  return how === "contains" ? containing(value) : new RegExp(value, flags);
}

/** A call on an element. */
export const act = (
  target: Target,
  meaning: Meaning,
  method: string,
  ...args: Argument[]
): Act => ({
  on: chainOf(target, meaning),
  method,
  args,
  target,
});

/** A call on the page. */
export const onPage = (method: string, ...args: Argument[]): Act => ({
  on: PAGE,
  method,
  args,
  target: undefined,
});

export const writing = (value: FillValue): Argument =>
  "text" in value ? value.text : { secret: value.secret };

/** A route for matching requests. */
export const routed = ({ glob, method }: RequestPattern, answer: Omit<Answer, "method">): Act =>
  onPage("context().route", { glob }, { method, ...answer });

/** One value alone, several as a list. */
export const sole = (all: readonly Argument[]): Argument =>
  all.length === 1 && all[0] !== undefined ? all[0] : all;

export function contentTypeOf(body: string): string {
  if (/^\s*</.test(body)) return "text/html";
  return isJson(body) ? "application/json" : "text/plain";
}
