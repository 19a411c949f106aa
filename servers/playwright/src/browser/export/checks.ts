import {
  type Absence,
  type Assertion,
  type CheckOf,
  type RequestPattern,
  SEVERITIES,
} from "../language/ast.ts";
import {
  containing,
  expectationOf,
  isElementCheck,
  isLate,
  isRepeated,
  ONCE,
  type RecordCheck,
} from "../language/plan.ts";
import { escaped } from "../language/reader.ts";
import { globRegex, js, printExpectation, printTarget } from "./print.ts";

export interface Spec {
  readonly needs: Set<Needs>;
  /** The variable of the current tab. */
  page: string;
}

/** What a check needs collected from the start, or imported. */
export type Needs =
  | "axe"
  | "consoleErrors"
  | "consoleWarnings"
  | "consoleLines"
  | "pageErrors"
  | "failedRequests"
  | "requests"
  | "exchanges"
  | "downloads"
  | "dialogs"
  | "settled"
  | "status";

/** Assertions as lines of a spec: first those that wait, then those for which the page must have settled. */
export function assertionLines(assertions: readonly Assertion[], spec: Spec): string[] {
  const early = assertions.filter(({ check }) => !isLate(check));
  const late = assertions.filter(({ check }) => isLate(check));
  const again = early.filter(isRepeated).map((one) => ({ ...one, within: ONCE }));
  const last = [...again, ...late];
  return [
    ...early.flatMap((one) => checkLines(one, spec)),
    ...(last.length === 0 ? [] : settledLines(spec)),
    ...last.flatMap((one) => checkLines(one, spec)),
  ];
}

export function settledLines({ needs, page }: Spec): string[] {
  needs.add("settled");
  return [`await settled(${page}, open);`];
}

export function checkLines({ check, negated, within }: Assertion, spec: Spec): string[] {
  if (isElementCheck(check)) return [printExpectation(expectationOf(check, negated), within, spec.page)];
  const look = recordLines(check, spec);
  if (!negated && within === undefined) return isLate(check) ? look : polled(look);
  const end = `}).toPass({ timeout: ${within ?? 5_000} });`;
  if (!negated) return ["await expect(async () => {", ...look.map((line) => `  ${line}`), end];
  // The negation of any check: it waits until the check fails.
  return [
    "await expect(async () => {",
    "  const holds = await (async () => {",
    ...look.map((line) => `    ${line}`),
    "  })().then(() => true, () => false);",
    "  expect(holds).toBe(false);",
    end,
  ];
}

/** Code that tests whether a request matches. */
function printPattern({ method, glob }: RequestPattern): string {
  const url = `${globRegex(glob)}.test(request.url)`;
  return method === undefined ? url : `request.method === ${js(method)} && ${url}`;
}

const bodyHas = (text: string) => `${containing(text)}.test(request.body)`;

/** A file name in which `*` matches anything, as a pattern. */
const nameRegex = (name: string) => `/^${name.split("*").map(escaped).join(".*")}$/s`;

/** `expect(value)` as a check that waits. */
const polled = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/^expect\(([\s\S]*)\)\.(\w+\(.*\));$/, "await expect.poll(() => $1).$2;"));

function recordLines(check: RecordCheck, spec: Spec): string[] {
  const { needs, page } = spec;
  const none = (need: Needs) => {
    needs.add(need);
    return [`expect(${need}).toEqual([]);`];
  };
  const some = (need: Needs, test: string) => {
    needs.add(need);
    return [`expect(${need}.some(${test})).toBe(true);`];
  };
  const request = (need: Needs, more: string) =>
    some(need, `(request) => ${"glob" in check ? printPattern(check) : ""}${more}`);
  switch (check.kind) {
    case "status":
      needs.add("status");
      return check.from === check.to
        ? [`expect(status).toBe(${check.from});`]
        : [`expect(Math.floor(status / 100)).toBe(${check.from / 100});`];
    case "request":
      return request("requests", check.contains === undefined ? "" : ` && ${bodyHas(check.contains)}`);
    case "response": {
      const { from, to } = check;
      const range = from === to ? `=== ${from}` : `>= ${from} && request.status <= ${to}`;
      return request("requests", ` && request.status ${range}`);
    }
    case "response body":
      return request("exchanges", ` && ${bodyHas(check.contains)}`);
    case "no requests":
      needs.add("requests");
      return [`expect(requests.filter((request) => ${printPattern(check)})).toEqual([]);`];
    case "download":
      return some("downloads", `(name) => ${nameRegex(check.name)}.test(name)`);
    case "dialog message": {
      const { how, value, flags, negated } = check.compare;
      const wanted =
        how === "is"
          ? `message === ${js(value)}`
          : `${how === "contains" ? containing(value) : new RegExp(value, flags)}.test(message)`;
      needs.add("dialogs");
      return [`expect(dialogs.some((message) => ${wanted})).toBe(${!negated});`];
    }
    case "console":
      return some("consoleLines", `(line) => ${containing(check.text)}.test(line)`);
    case "absence":
      return ABSENCES[check.what](none, spec);
    case "a11y":
      return a11yLines(check, spec);
    case "metric":
      return metricLines(check, page);
    case "screenshot": {
      const of = check.target === undefined ? page : printTarget(check.target, page);
      const masked = check.masks.map((mask) => printTarget(mask, page)).join(", ");
      const masks = masked === "" ? "" : `, mask: [${masked}]`;
      const full = check.target === undefined ? ", fullPage: true" : "";
      return [
        `await expect(${of}).toHaveScreenshot(${js(`${check.baseline}.png`)}, { maxDiffPixelRatio: ${check.tolerance}${masks}${full} });`,
      ];
    }
  }
}

const ABSENCES: Readonly<Record<Absence, (none: (need: Needs) => string[], spec: Spec) => string[]>> = {
  "console errors": (none) => none("consoleErrors"),
  "console warnings": (none) => none("consoleWarnings"),
  "page errors": (none) => none("pageErrors"),
  "failed requests": (none) => none("failedRequests"),
  "mixed content": (_none, { needs, page }) => {
    needs.add("requests");
    return [
      `expect(${page}.url().startsWith("https:") ? requests.filter(({ url }) => /^(?:http|ws):/.test(url)) : []).toEqual([]);`,
    ];
  },
  "broken images": (_none, { page }) => [
    `expect(await ${page}.evaluate(() => [...document.images].filter((one) => (one.currentSrc || one.src) !== "" && one.complete && one.naturalWidth === 0).map((one) => one.src))).toEqual([]);`,
  ],
  "horizontal overflow": (_none, { page }) => [
    `expect(await ${page}.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(1);`,
  ],
};

/** Checks that axe-core finds no violations of a severity. */
function a11yLines({ severity, target }: CheckOf<"a11y">, { needs, page }: Spec): string[] {
  needs.add("axe");
  const scope = target === undefined ? page : printTarget(target, page);
  const argument = target === undefined ? "" : "scope";
  const wanted = js(SEVERITIES.slice(SEVERITIES.indexOf(severity)).join(" "));
  return [
    `await ${page}.evaluate(axe.source);`,
    `expect(await ${scope}.evaluate(async (${argument}) => {`,
    `  const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(${argument || "document"}, { resultTypes: ["violations"], iframes: false });`,
    `  return violations.filter((one) => ${wanted}.includes(String(one.impact))).map((one) => one.id);`,
    "})).toEqual([]);",
  ];
}

/** Checks that a time, the layout shift or the page's weight is below a limit. */
function metricLines({ metric, limit }: CheckOf<"metric">, page: string): string[] {
  const entries = (type: string) =>
    `await ${page}.evaluate(() => new Promise<PerformanceEntry[]>((resolve) => { new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type: ${js(type)}, buffered: true }); setTimeout(() => resolve([]), 500); }).then((all) => JSON.parse(JSON.stringify(all))))`;
  const navigation = (name: string) =>
    `await ${page}.evaluate(() => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).${name})`;
  const value = {
    "response time": navigation("responseEnd"),
    "load time": navigation("loadEventEnd"),
    fcp: `await ${page}.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity)`,
    lcp: `(${entries("largest-contentful-paint")}).at(-1)?.startTime ?? Infinity`,
    cls: `(${entries("layout-shift")} as (PerformanceEntry & { hadRecentInput: boolean; value: number })[]).reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0)`,
    "page weight": `await ${page}.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, one) => sum + (one as PerformanceResourceTiming).transferSize, 0))`,
  }[metric];
  return [`expect(${value}).toBeLessThan${metric === "page weight" ? "OrEqual" : ""}(${limit});`];
}
