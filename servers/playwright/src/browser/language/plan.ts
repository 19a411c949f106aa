import { isJson } from "@refmcp/boundary/answer";
import {
  type Action,
  type ActionOf,
  type Assertion,
  type Base,
  type Check,
  type CheckOf,
  type FillValue,
  type Meaning,
  type NetworkSpeed,
  type Property,
  type Reply,
  STATE_MATCHERS,
  type Step,
  setupLength,
  type Target,
  type TextComparison,
} from "./ast.ts";
import { escaped } from "./reader.ts";

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
  readonly method: string | undefined;
  readonly reply: Reply;
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
  | { readonly [option: string]: string | number | boolean };

/** An assertion in Playwright: `expect(on).not.matcher(...args)`. A run executes it, a spec prints it. */
export interface Expectation {
  readonly on: Chain;
  /** Polls the number of elements instead of asking the locator. */
  readonly counted: boolean;
  readonly not: boolean;
  readonly matcher: string;
  readonly args: readonly Argument[];
}

/** A timeout in milliseconds that allows one check: Playwright checks once before looking at the clock. */
export const ONCE = 1;

/** An action in Playwright: `on.method(...args, options)`. */
export interface Act {
  readonly on: Chain;
  /** A method of the page or locator; on the page also a path to one: `keyboard.press`, `context().setOffline`. */
  readonly method: string;
  readonly args: readonly Argument[];
  readonly options?: { readonly button: "right" };
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
  const inner = target.containing === undefined ? [] : [call("filter", { hasText: target.containing })];
  const calls = [...root.calls, ...baseCalls(target.base, root, meaning), ...inner];
  if (target.pick === undefined) return { calls };
  const pick = typeof target.pick === "number" ? call("nth", target.pick - 1) : call(target.pick);
  return { calls: [...calls, pick] };
}

const call = (name: string, ...args: Argument[]): Call => ({ name, args });

const BY_TEXT = {
  text: "getByText",
  label: "getByLabel",
  placeholder: "getByPlaceholder",
  alt: "getByAltText",
  title: "getByTitle",
} as const;

function baseCalls(base: Base, root: Chain, meaning: Meaning): Call[] {
  switch (base.kind) {
    case "css":
      return [call("locator", base.css)];
    case "frame": {
      const name = JSON.stringify(base.text);
      return [
        call("frameLocator", ["title", "name", "id"].map((one) => `iframe[${one}=${name}]`).join(", ")),
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
    case "quoted": {
      const named = (method: string) => call(method, base.text, ...(base.exact ? [{ exact: true }] : []));
      if (meaning === "text") return [named("getByText")];
      const or = (...calls: Call[]) => call("or", { calls: [...root.calls, ...calls] });
      const field = [named("getByLabel"), or(named("getByPlaceholder"))];
      if (meaning === "field") return field;
      const name = base.exact ? { name: base.text, exact: true } : { name: base.text };
      return [...field, or(call("getByRole", "button", name))];
    }
    default:
      return [call(BY_TEXT[base.kind], base.text, ...(base.exact ? [{ exact: true }] : []))];
  }
}

/** A pattern that finds a text, its white space as a reader sees it. */
export function containing(text: string): RegExp {
  return new RegExp(text.trim().split(/\s+/).map(escaped).join("\\s+"));
}

/** The expected value, for matchers that take a whole text or a pattern. */
function expected({ how, value, flags }: TextComparison): string | RegExp {
  if (how === "is") return value;
  return how === "contains" ? containing(value) : new RegExp(value, flags);
}

/** The checks that Playwright's `expect` runs on a page or an element; the others use what the run recorded. */
const ELEMENT_CHECKS = [
  "page",
  "text",
  "aria snapshot",
  "state",
  "existence",
  "property",
  "count",
  "no target",
] as const;
export type ElementCheck = CheckOf<(typeof ELEMENT_CHECKS)[number]>;
export type RecordCheck = Exclude<Check, ElementCheck>;
export const isElementCheck = (check: Check): check is ElementCheck =>
  ELEMENT_CHECKS.some((kind) => kind === check.kind);

const LATE: ReadonlySet<string> = new Set([
  "absence",
  "no target",
  "no requests",
  "a11y",
  "metric",
  "screenshot",
]);

/** Whether a check runs once, after the page has settled: absence is trivially true at first. */
export const isLate = ({ kind }: Check): boolean => LATE.has(kind);

const NEGATIVE: ReadonlySet<string> = new Set(["toBeHidden", "toBeDisabled", "toBeEmpty"]);

/**
 * Whether a check that passes is repeated once the page has settled: the negation of a check and a count can be true
 * only because the page is not complete yet.
 */
export function isRepeated({ check, negated }: Assertion): boolean {
  if (isLate(check)) return false;
  if (check.kind === "count") return true;
  if (check.kind === "existence") return check.exists === negated;
  if (check.kind === "dialog message") return check.compare.negated !== negated;
  if (!isElementCheck(check)) return negated;
  const { not, matcher } = expectationOf(check, negated);
  return not || NEGATIVE.has(matcher);
}

/** The assertion in Playwright's terms. */
export function expectationOf(check: ElementCheck, negated: Assertion["negated"]): Expectation {
  const plan = (on: Chain, matcher: string, args: readonly Argument[], not = false): Expectation => {
    // `toBeHidden` instead of `not.toBeVisible`, which is idiomatic.
    const opposite = not === negated ? undefined : OPPOSITES[matcher];
    const isNot = opposite === undefined && not !== negated;
    return { on, counted: false, not: isNot, matcher: opposite ?? matcher, args };
  };
  switch (check.kind) {
    case "page": {
      const { what, compare } = check;
      return plan(PAGE, what === "title" ? "toHaveTitle" : "toHaveURL", [expected(compare)], compare.negated);
    }
    case "text":
      return plan(chainOf(check.target), ...textMatcher(check.compare), check.compare.negated);
    case "aria snapshot":
      return plan(chainOf(check.target), "toMatchAriaSnapshot", [check.snapshot]);
    case "state": {
      const [meaning, matcher, not] = STATE_MATCHERS[check.state];
      return plan(chainOf(check.target, meaning), matcher, [], not !== check.negated);
    }
    case "existence":
      return plan(chainOf(check.target), "toHaveCount", [0], check.exists);
    case "no target":
      return plan(chainOf(check.target), "toHaveCount", [0]);
    case "count": {
      const { how, value } = check.compare;
      const on = chainOf(check.target);
      if (how === "=") return plan(on, "toHaveCount", [value]);
      return { ...plan(on, NUMBER_MATCHERS[how], [value]), counted: true };
    }
    case "property": {
      const { property, target } = check;
      const not = property.compare?.negated ?? false;
      const meaning = property.kind === "value" ? "field" : "text";
      return plan(chainOf(target, meaning), ...propertyMatcher(property), not);
    }
  }
}

const OPPOSITES: Readonly<Record<string, string>> = {
  toBeVisible: "toBeHidden",
  toBeHidden: "toBeVisible",
  toBeEnabled: "toBeDisabled",
  toBeDisabled: "toBeEnabled",
};

const NUMBER_MATCHERS = {
  ">=": "toBeGreaterThanOrEqual",
  "<=": "toBeLessThanOrEqual",
  ">": "toBeGreaterThan",
  "<": "toBeLessThan",
} as const;

type Matcher = [matcher: string, args: Argument[]];

function textMatcher(compare: TextComparison): Matcher {
  if (compare.how === "contains") return ["toContainText", [compare.value]];
  return ["toHaveText", [expected(compare)]];
}

function propertyMatcher(property: Property): Matcher {
  switch (property.kind) {
    case "value":
      return ["toHaveValue", [expected(property.compare)]];
    case "text":
      return textMatcher(property.compare);
    case "id":
      return ["toHaveId", [expected(property.compare)]];
    case "class":
      // One class of several, as in class="button primary".
      if (property.compare.how === "is") return ["toContainClass", [property.compare.value]];
      return ["toHaveClass", [expected(property.compare)]];
    case "name":
      return ["toHaveAttribute", ["name", expected(property.compare)]];
    case "attribute": {
      const { name, compare } = property;
      return ["toHaveAttribute", compare === undefined ? [name] : [name, expected(compare)]];
    }
    case "style":
      return ["toHaveCSS", [property.name, expected(property.compare)]];
  }
}

/** An action that consists of calls of Playwright's API; `session/steps.ts` and `export/spec.ts` treat the others. */
export function actsOf(action: Action): readonly Act[] {
  const act = (target: Target, meaning: Meaning, method: string, ...args: Argument[]): Act => ({
    on: chainOf(target, meaning),
    method,
    args,
    target,
  });
  const onPage = (method: string, ...args: Argument[]): Act => ({
    on: PAGE,
    method,
    args,
    target: undefined,
  });
  switch (action.kind) {
    case "click": {
      const click = act(action.target, "text", action.count === 2 ? "dblclick" : "click");
      return [action.button === "right" ? { ...click, options: { button: "right" } } : click];
    }
    case "fill":
      return [act(action.target, "field", "fill", writing(action.value))];
    case "type":
      if (action.target === undefined) return [onPage("keyboard.type", writing(action.value))];
      return [act(action.target, "field", "pressSequentially", writing(action.value))];
    case "press":
      if (action.target === undefined) return [onPage("keyboard.press", action.key)];
      return [act(action.target, "field", "press", action.key)];
    case "check":
      return [act(action.target, "field", action.checked ? "check" : "uncheck")];
    case "select":
      return [act(action.target, "field", "selectOption", sole(action.options))];
    case "upload":
      return [act(action.target, "field", "setInputFiles", sole(action.files.map((file) => ({ file }))))];
    case "hover":
      return [act(action.target, "text", "hover")];
    case "focus":
      return [act(action.target, "control", "focus")];
    case "clear":
      return [act(action.target, "field", "clear")];
    case "drag":
      return [act(action.from, "text", "dragTo", chainOf(action.to))];
    case "reload":
      return [{ ...onPage("reload"), timed: true }];
    case "viewport":
      return [onPage("setViewportSize", { width: action.width, height: action.height })];
    case "mock": {
      const { glob, method, reply } = action;
      return [onPage("context().route", { glob }, { method, reply })];
    }
    case "offline":
      return [onPage("context().setOffline", action.offline)];
    case "geolocation": {
      const { latitude, longitude } = action;
      return [
        onPage("context().grantPermissions", ["geolocation"]),
        onPage("context().setGeolocation", { latitude, longitude }),
      ];
    }
    case "permission":
      return [onPage("context().grantPermissions", [action.permission])];
    case "clock":
      return [onPage("clock.install", { time: action.time })];
    case "fast forward":
      return [onPage("clock.fastForward", action.milliseconds)];
    default:
      throw new TypeError(`no plan for ${action.kind}`);
  }
}

const writing = (value: FillValue): Argument => ("text" in value ? value.text : { secret: value.secret });

/** One value alone, several as a list. */
const sole = (all: readonly Argument[]): Argument =>
  all.length === 1 && all[0] !== undefined ? all[0] : all;

export function contextOptionsOf(steps: readonly Step[]): { timezoneId?: string; locale?: string } {
  const set = steps.slice(0, setupLength(steps)).map(({ action }) => {
    if (action.kind === "time zone") return { timezoneId: action.value };
    return action.kind === "locale" ? { locale: action.value } : {};
  });
  return Object.assign({}, ...set);
}

/** Latency in milliseconds and bytes per second, as in Chrome DevTools. */
const NETWORK_CONDITIONS = {
  "slow 3g": { latency: 2_000, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  "fast 3g": { latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 },
  "fast 4g": { latency: 165, downloadThroughput: 1_012_500, uploadThroughput: 168_750 },
} as const satisfies Record<NetworkSpeed, object>;

/** A throttling step as a command of the Chrome DevTools Protocol. */
export function throttlingOf(action: ActionOf<"throttle cpu" | "throttle network">) {
  if (action.kind === "throttle cpu")
    return { command: "Emulation.setCPUThrottlingRate", params: { rate: action.rate } } as const;
  const params = { offline: false, ...NETWORK_CONDITIONS[action.speed] };
  return { command: "Network.emulateNetworkConditions", params } as const;
}

export function contentTypeOf(body: string): string {
  if (/^\s*</.test(body)) return "text/html";
  return isJson(body) ? "application/json" : "text/plain";
}
