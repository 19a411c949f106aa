import { clip, oneLine } from "@refmcp/core/answer";
import type { Page } from "playwright";
import type { Check, Property, State, TextComparison } from "../language/ast.ts";
import { describeTarget } from "../language/target.ts";
import { compares, fits, spaced, urlMatcher } from "../language/values.ts";
import { type Facts, factsOf } from "./facts.ts";
import { locatorOf } from "./locate.ts";
import { isFailed, type PageRecord, type RequestLine } from "./record.ts";

/** Whether a check holds now, and what was there instead where it does not. */
export interface Outcome {
  readonly passed: boolean;
  readonly actual: string;
}

/** Foreign text on one line, short. */
export const shown = (text: string, most = 160): string => {
  const flat = oneLine(spaced(text.slice(0, 10_000)));
  return JSON.stringify(flat.length > most ? `${clip(flat, most)}…` : flat);
};

/** Checks that wait for what they say; the others look once, when the page has settled. */
const WAITING = new Set<Check["kind"]>([
  "page",
  "status",
  "text",
  "state",
  "existence",
  "property",
  "count",
  "request",
  "response",
  "console",
]);

/** Whether a check can become true while one waits. What asks for absence is true at first and proves nothing then. */
export function isWaiting(check: Check): boolean {
  return WAITING.has(check.kind);
}

/** Looks at the page now. */
export async function lookAt(check: Check, page: Page, record: PageRecord): Promise<Outcome> {
  switch (check.kind) {
    case "page": {
      const text = check.what === "url" ? page.url() : await page.title();
      return { passed: fits(check.compare, text), actual: `the ${check.what} is ${shown(text)}` };
    }
    case "status": {
      const status = record.navigation?.status() ?? 0;
      return {
        passed: status >= check.from && status <= check.to,
        actual: status === 0 ? "no answer has a status" : `the status is ${status}`,
      };
    }
    case "text":
      return compared(check, page, check.compare, (facts) => facts.text, "text");
    case "state":
      return stateOf(check, page);
    case "existence": {
      const { count } = await factsOf(locatorOf(page, check.target));
      return { passed: count > 0 === check.exists, actual: found(count) };
    }
    case "property":
      return propertyOf(check.property, check, page);
    case "count": {
      const { count } = await factsOf(locatorOf(page, check.target));
      return { passed: compares(check.compare, count), actual: `the count is ${count}` };
    }
    case "no target": {
      const { count, facts } = await factsOf(locatorOf(page, check.target));
      const first = facts[0];
      return {
        passed: count === 0,
        actual: `${found(count)}${first === undefined ? "" : `, the first with the text ${shown(first.text)}`}`,
      };
    }
    case "request":
      return requested(check.glob, record, () => true, true);
    case "response":
      return requested(check.glob, record, ({ status }) => status >= check.from && status <= check.to, true);
    case "no requests":
      return requested(check.glob, record, () => true, false);
    case "console": {
      const wanted = spaced(check.text);
      const passed = record.console.some(({ text }) => spaced(text).includes(wanted));
      const last = record.console.at(-1);
      return {
        passed,
        actual: last === undefined ? "the console is empty" : `its last line is ${shown(last.text)}`,
      };
    }
    default:
      throw new TypeError(`${check.kind} is not looked at this way`);
  }
}

const found = (count: number) =>
  count === 0 ? "nothing matches" : count === 1 ? "1 element matches" : `${count} elements match`;

type OnTarget = Extract<Check, { kind: "text" | "property" | "state" }>;

/**
 * Compares a text of each element that matches. Of several, one that fits is enough; what is negated must hold for
 * all, and for at least one.
 */
async function compared(
  check: OnTarget,
  page: Page,
  compare: TextComparison,
  textOf: (facts: Facts) => string | null,
  what: string,
  wanted: Parameters<typeof factsOf>[1] = {},
): Promise<Outcome> {
  const { count, facts } = await factsOf(locatorOf(page, check.target, what === "value"), wanted);
  if (count === 0) return { passed: false, actual: `nothing matches ${describeTarget(check.target)}` };
  const texts = facts.map(textOf);
  const fit = (text: string | null) => (text === null ? compare.negated : fits(compare, text));
  const passed = compare.negated ? texts.every(fit) : texts.some(fit);
  const first = texts.find((text) => text !== null && !fit(text)) ?? texts[0] ?? null;
  const rest = count > 1 ? ` (the first of ${count})` : "";
  return {
    passed,
    actual: first === null ? `it has no ${what}${rest}` : `its ${what} is ${shown(first)}${rest}`,
  };
}

async function propertyOf(property: Property, check: OnTarget, page: Page): Promise<Outcome> {
  if (property.kind === "attribute") {
    const wanted = { attribute: property.name };
    if (property.compare !== undefined)
      return compared(
        check,
        page,
        property.compare,
        (one) => one.attribute,
        `attribute ${property.name}`,
        wanted,
      );
    const { count, facts } = await factsOf(locatorOf(page, check.target), wanted);
    const passed = facts.some(({ attribute }) => attribute !== null);
    return {
      passed,
      actual:
        count === 0
          ? `nothing matches ${describeTarget(check.target)}`
          : `it has no attribute ${property.name}`,
    };
  }
  if (property.kind === "style") {
    const wanted = { style: property.name };
    return compared(check, page, property.compare, (one) => one.style, `style ${property.name}`, wanted);
  }
  const { kind, compare } = property;
  if (kind !== "class" || compare.how !== "is")
    return compared(check, page, compare, (one) => one[kind], kind);
  // One class of several, as in class="button primary".
  const outcome = await compared(check, page, { ...compare, how: "contains" }, (one) => one.class, kind);
  const { facts } = await factsOf(locatorOf(page, check.target));
  const has = facts.some((one) => one.class.split(/\s+/).includes(compare.value));
  return { ...outcome, passed: facts.length > 0 && has !== compare.negated };
}

const STATE_FACTS: Readonly<Record<Exclude<State, "visible" | "hidden">, (facts: Facts) => boolean>> = {
  enabled: (facts) => facts.enabled,
  disabled: (facts) => !facts.enabled,
  checked: (facts) => facts.checked,
  unchecked: (facts) => facts.checkable && !facts.checked,
  editable: (facts) => facts.editable,
  readonly: (facts) => facts.readonly,
  focused: (facts) => facts.focused,
  empty: (facts) => facts.empty,
  "in viewport": (facts) => facts.inViewport && facts.visible,
};

async function stateOf(check: Extract<Check, { kind: "state" }>, page: Page): Promise<Outcome> {
  const field = check.state !== "visible" && check.state !== "hidden";
  const { count, facts } = await factsOf(await fieldOrText(page, check, field));
  if (check.state === "visible" || check.state === "hidden") {
    const visible = facts.some((one) => one.visible);
    const wanted = (check.state === "visible") !== check.negated;
    const actual = visible ? "it is visible" : count === 0 ? "nothing matches" : "it is hidden";
    return { passed: visible === wanted, actual };
  }
  if (count === 0) return { passed: false, actual: `nothing matches ${describeTarget(check.target)}` };
  const holds = STATE_FACTS[check.state];
  const passed = check.negated ? facts.every((one) => !holds(one)) : facts.some(holds);
  return { passed, actual: `it is ${check.negated ? "" : "not "}${check.state}` };
}

/** `'Email' is enabled` means the field with this label where there is one, else the text itself. */
async function fieldOrText(page: Page, check: OnTarget, field: boolean) {
  if (!field || check.target.base.kind !== "quoted") return locatorOf(page, check.target);
  const labelled = locatorOf(page, check.target, true);
  return (await labelled.count()) > 0 ? labelled : locatorOf(page, check.target);
}

function requested(
  glob: string,
  record: PageRecord,
  fit: (line: RequestLine) => boolean,
  wanted: boolean,
): Outcome {
  const matches = urlMatcher(glob);
  const made = record.requests.filter(({ url }) => matches(url));
  const fitting = made.find(fit);
  const first = made[0];
  const seen =
    first === undefined
      ? `none of ${record.counts.requests} requests matches`
      : `${made.length} matched, the first ${first.method} ${shown(first.url)} ${isFailed(first) ? `failed (${first.failure ?? first.status})` : `with status ${first.status}`}`;
  return { passed: (fitting !== undefined) === wanted, actual: seen };
}
