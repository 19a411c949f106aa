import type { Assertion, Check, NumberComparison, Property, Target, TextComparison } from "./ast.ts";
import { a11yLines, metricLines, type Needs, SETTLED } from "./export-quality.ts";
import { globRegex, js, locator, regex } from "./export-words.ts";

/** What a check waits with: nothing for the default, an option, or `ONCE` for one look. */
type Time = string;
const ONCE: Time = "once";

/** An assertion as lines of a spec; several elements that match count as in the assertion language. */
export function expectation({ check, negated, within }: Assertion, needs: Set<Needs>): string[] {
  const looksOnce = isLate(check);
  if (!negated && (within === undefined || !looksOnce))
    return lines(check, needs, looksOnce ? ONCE : within === undefined ? "" : `{ timeout: ${within} }`);
  const end = `}).toPass({ timeout: ${within ?? 5_000} });`;
  const look = lines(check, needs, ONCE).map((line) => `  ${line}`);
  if (!negated) return ["await expect(async () => {", ...look, end];
  // The negation of any check: it waits until the check fails.
  return [
    "await expect(async () => {",
    "  const holds = await (async () => {",
    ...look.map((line) => `  ${line}`),
    "  })().then(() => true, () => false);",
    "  expect(holds).toBe(false);",
    end,
  ];
}

const LATE = new Set<Check["kind"]>(["absence", "no target", "no requests", "a11y", "metric", "screenshot"]);

/** Whether a check looks once, when the network is quiet; the others wait. */
export const isLate = (check: Check): boolean => LATE.has(check.kind);

/** A value that is compared again and again, or once. */
function polled(value: string, matcher: string, time: Time): string[] {
  if (time === ONCE) return [`expect(await (${value})).${matcher};`];
  return [`await expect.poll(async () => ${value}${time === "" ? "" : `, ${time}`}).${matcher};`];
}

function lines(check: Check, needs: Set<Needs>, time: Time): string[] {
  const poll = (value: string, matcher: string) => polled(value, matcher, time);
  const none = (need: Needs) => {
    needs.add(need);
    return [SETTLED, `expect(${need}).toEqual([]);`];
  };
  switch (check.kind) {
    case "page": {
      const not = check.compare.negated ? "not." : "";
      const tail = time === "" ? "" : `, ${time}`;
      if (time === ONCE)
        return [
          `expect(${check.what === "title" ? "await page.title()" : "page.url()"}).${not}toMatch(${regex(check.compare)});`,
        ];
      return [
        `await expect(page).${not}${check.what === "title" ? "toHaveTitle" : "toHaveURL"}(${regex(check.compare)}${tail});`,
      ];
    }
    case "status":
      needs.add("status");
      return poll(`status >= ${check.from} && status <= ${check.to}`, "toBe(true)");
    case "text":
      return textLines(check.target, check.compare, time);
    case "state":
      return stateLines(check, time);
    case "existence":
      return counted(locator(check.target), check.exists, time);
    case "property":
      return propertyLines(check.property, check.target, time);
    case "count":
      return poll(`${locator(check.target)}.count()`, numberMatcher(check.compare));
    case "no target":
      return [SETTLED, ...counted(locator(check.target), false, ONCE)];
    case "request":
      needs.add("requests");
      return poll(`requests.some(({ url }) => ${globRegex(check.glob)}.test(url))`, "toBe(true)");
    case "response":
      needs.add("requests");
      return poll(
        `requests.some(({ url, status }) => ${globRegex(check.glob)}.test(url) && status >= ${check.from} && status <= ${check.to})`,
        "toBe(true)",
      );
    case "no requests":
      needs.add("requests");
      return [
        SETTLED,
        `expect(requests.filter(({ url }) => ${globRegex(check.glob)}.test(url))).toEqual([]);`,
      ];
    case "console":
      needs.add("consoleLines");
      return poll(
        `consoleLines.some((line) => ${regex({ how: "contains", value: check.text, flags: "", negated: false })}.test(line))`,
        "toBe(true)",
      );
    case "absence":
      return ABSENCES[check.what](none, needs);
    case "a11y":
      return a11yLines(check, needs);
    case "metric":
      return metricLines(check);
    case "screenshot": {
      const of = check.target === undefined ? "page" : locator(check.target);
      const masks =
        check.masks.length === 0 ? "" : `, mask: [${check.masks.map((mask) => locator(mask)).join(", ")}]`;
      const full = check.target === undefined ? ", fullPage: true" : "";
      return [
        `await expect(${of}).toHaveScreenshot(${js(`${check.baseline}.png`)}, { maxDiffPixelRatio: ${check.tolerance}${masks}${full} });`,
      ];
    }
  }
}

const ABSENCES: Readonly<
  Record<
    Extract<Check, { kind: "absence" }>["what"],
    (none: (need: Needs) => string[], needs: Set<Needs>) => string[]
  >
> = {
  "console errors": (none) => none("consoleErrors"),
  "console warnings": (none) => none("consoleWarnings"),
  "page errors": (none) => none("pageErrors"),
  "failed requests": (none) => none("failedRequests"),
  "mixed content": (_none, needs) => {
    needs.add("requests");
    return [
      SETTLED,
      'expect(page.url().startsWith("https:") ? requests.filter(({ url }) => /^(?:http|ws):/.test(url)) : []).toEqual([]);',
    ];
  },
  "broken images": () => [
    SETTLED,
    'expect(await page.evaluate(() => [...document.images].filter((one) => (one.currentSrc || one.src) !== "" && one.complete && one.naturalWidth === 0).map((one) => one.src))).toEqual([]);',
  ],
  "horizontal overflow": () => [
    SETTLED,
    "expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(1);",
  ],
};

/** Elements that are never fields, so that their text is what they show. */
const PLAIN_ROLES =
  /^(?:alert|article|banner|button|cell|complementary|contentinfo|dialog|heading|link|list|listitem|main|navigation|paragraph|region|row|status|table)$/;
const PLAIN_TAG =
  /(?:^|[\s>+~])(?:h[1-6]|p|li|[ou]l|div|span|t[dhr]|table|main|nav|header|footer|section|article|a|label|d[dt]|strong|em|code|pre)(?:[.#:][^\s>+~,]*)?$/i;

const isPlain = ({ base }: Target): boolean =>
  base.kind === "role" ? PLAIN_ROLES.test(base.role) : base.kind === "css" ? PLAIN_TAG.test(base.css) : false;

/** A text, as a person would write it where no field can be meant. */
function textLines(target: Target, compare: TextComparison, time: Time): string[] {
  if (!isPlain(target)) return every(target, compare, TEXT, time);
  const fitting = `${locator(target)}.filter({ hasText: ${regex(compare)} })`;
  if (!compare.negated) return counted(fitting, true, time);
  return [...counted(locator(target), true, time), ...counted(fitting, false, time)];
}

/** The text of an element as the assertion language sees it: of a field its value. */
const TEXT =
  '("value" in one && typeof one.value === "string" && /^(?:INPUT|TEXTAREA|SELECT)$/.test(one.tagName) ? one.value : (one.textContent ?? ""))';

/** Of several elements one that fits is enough; a negated comparison holds for all, and for at least one. */
function every(target: Target, compare: TextComparison, text: string, time: Time): string[] {
  const fits = `${regex(compare)}.test(${text})`;
  const all = compare.negated
    ? `all.length > 0 && all.every((one) => !${fits})`
    : `all.some((one) => ${fits})`;
  return polled(`${locator(target)}.evaluateAll((all) => ${all})`, "toBe(true)", time);
}

/** That a locator finds something, or nothing. */
function counted(locator: string, some: boolean, time: Time): string[] {
  const not = some ? "not." : "";
  if (time === ONCE) return [`expect(await ${locator}.count()).${not}toBe(0);`];
  return [`await expect(${locator}).${not}toHaveCount(0${time === "" ? "" : `, ${time}`});`];
}

function propertyLines(property: Property, target: Target, time: Time): string[] {
  const anyValue: TextComparison = { how: "matches", value: "[^]*", flags: "", negated: false };
  switch (property.kind) {
    case "attribute": {
      const name = js(property.name);
      if (property.compare === undefined)
        return polled(
          `${locator(target)}.evaluateAll((all) => all.some((one) => one.hasAttribute(${name})))`,
          "toBe(true)",
          time,
        );
      return every(target, property.compare, `(one.getAttribute(${name}) ?? "\\u0000")`, time);
    }
    case "style":
      return every(
        target,
        property.compare,
        `getComputedStyle(one).getPropertyValue(${js(property.name)})`,
        time,
      );
    case "class": {
      const { how, value, negated } = property.compare;
      const one =
        how === "is"
          ? {
              ...property.compare,
              how: "matches" as const,
              value: `(?:^|\\s)${value.replace(/[^\w-]/g, "\\$&")}(?:\\s|$)`,
              negated,
            }
          : property.compare;
      return every(target, one, '(one.getAttribute("class") ?? "")', time);
    }
    case "value":
      return every(field(target), property.compare, '("value" in one ? String(one.value) : "")', time);
    case "text":
      return every(target, property.compare, TEXT, time);
    case "id":
    case "name":
      return every(
        target,
        property.compare ?? anyValue,
        `(one.getAttribute(${js(property.kind)}) ?? "")`,
        time,
      );
  }
}

/** A bare text means the field with this label. */
function field(target: Target): Target {
  return target.base.kind === "quoted"
    ? { ...target, base: { kind: "label", text: target.base.text } }
    : target;
}

function stateLines({ target, state, negated }: Extract<Check, { kind: "state" }>, time: Time): string[] {
  if (state === "visible" || state === "hidden")
    return counted(`${locator(target)}.filter({ visible: true })`, (state === "visible") !== negated, time);
  const holds = STATES_NOW[state];
  const all = negated ? `all.length > 0 && all.every((one) => !(${holds}))` : `all.some((one) => ${holds})`;
  return polled(`${locator(field(target))}.evaluateAll((all) => ${all})`, "toBe(true)", time);
}

/** Whether an element is in a state, as the assertion language sees it. */
const ENABLED = `!one.matches(":disabled") && one.closest('[aria-disabled="true"]') === null`;
const READONLY = `one.getAttribute("aria-readonly") === "true" || one.matches("input[readonly], textarea[readonly]")`;
const CHECKED = `one.matches(':checked, [aria-checked="true"], [aria-selected="true"], [aria-pressed="true"]')`;
const FIELD = "input, textarea, select";
const STATES_NOW = {
  enabled: ENABLED,
  disabled: `!(${ENABLED})`,
  checked: CHECKED,
  unchecked: `one.matches("input[type=checkbox], input[type=radio], [role]") && !${CHECKED}`,
  editable: `${ENABLED} && !(${READONLY}) && (one.matches(${js(FIELD)}) || (one as HTMLElement).isContentEditable)`,
  readonly: READONLY,
  focused: "document.activeElement === one",
  empty: `(one.matches(${js(FIELD)}) ? (one as HTMLInputElement).value : one.children.length > 0 ? "x" : (one.textContent ?? "")).trim() === ""`,
  "in viewport":
    "((box) => box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth)(one.getBoundingClientRect())",
} as const;

function numberMatcher({ how, value }: NumberComparison): string {
  const names = {
    "=": "toBe",
    ">=": "toBeGreaterThanOrEqual",
    "<=": "toBeLessThanOrEqual",
    ">": "toBeGreaterThan",
    "<": "toBeLessThan",
  } as const;
  return `${names[how]}(${value})`;
}
