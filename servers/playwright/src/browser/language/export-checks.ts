import { type Assertion, type Check, SEVERITIES } from "./ast.ts";
import { containing, expectationOf, isElementCheck, isLate, type RecordCheck } from "./plan.ts";
import { globRegex, js, printExpectation, printTarget } from "./print.ts";

/** What must be collected from the beginning, or imported, for a check to be made. */
export type Needs =
  | "axe"
  | "consoleErrors"
  | "consoleWarnings"
  | "consoleLines"
  | "pageErrors"
  | "failedRequests"
  | "requests"
  | "settled"
  | "status";

/** An assertion as lines of a spec. */
export function assertionLines({ check, negated, within }: Assertion, needs: Set<Needs>): string[] {
  const settled = isLate(check) ? ["await settled(page);"] : [];
  if (settled.length > 0) needs.add("settled");
  if (isElementCheck(check)) return [...settled, printExpectation(expectationOf(check, negated), within)];
  const polls = !isLate(check);
  const look = recordLines(check, needs);
  if (!negated && within === undefined) return [...settled, ...(polls ? polled(look) : look)];
  const end = `}).toPass({ timeout: ${within ?? 5_000} });`;
  if (!negated) return [...settled, "await expect(async () => {", ...look.map((line) => `  ${line}`), end];
  // The negation of any check: it waits until the check fails.
  return [
    ...settled,
    "await expect(async () => {",
    "  const holds = await (async () => {",
    ...look.map((line) => `    ${line}`),
    "  })().then(() => true, () => false);",
    "  expect(holds).toBe(false);",
    end,
  ];
}

/** `expect(value)` as a check that waits. */
const polled = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/^expect\(([\s\S]*)\)\.(\w+\(.*\));$/, "await expect.poll(() => $1).$2;"));

/** A check of what the spec collected, or of the page as it is now. */
function recordLines(check: RecordCheck, needs: Set<Needs>): string[] {
  const none = (need: Needs) => {
    needs.add(need);
    return [`expect(${need}).toEqual([]);`];
  };
  const some = (need: Needs, test: string) => {
    needs.add(need);
    return [`expect(${need}.some(${test})).toBe(true);`];
  };
  switch (check.kind) {
    case "status":
      needs.add("status");
      return check.from === check.to
        ? [`expect(status).toBe(${check.from});`]
        : [`expect(Math.floor(status / 100)).toBe(${check.from / 100});`];
    case "request":
      return some("requests", `({ url }) => ${globRegex(check.glob)}.test(url)`);
    case "response": {
      const status =
        check.from === check.to
          ? `status === ${check.from}`
          : `status >= ${check.from} && status <= ${check.to}`;
      return some("requests", `({ url, status }) => ${globRegex(check.glob)}.test(url) && ${status}`);
    }
    case "no requests":
      needs.add("requests");
      return [`expect(requests.filter(({ url }) => ${globRegex(check.glob)}.test(url))).toEqual([]);`];
    case "console":
      return some("consoleLines", `(line) => ${containing(check.text)}.test(line)`);
    case "absence":
      return ABSENCES[check.what](none, needs);
    case "a11y":
      return a11yLines(check, needs);
    case "metric":
      return metricLines(check);
    case "screenshot": {
      const of = check.target === undefined ? "page" : printTarget(check.target);
      const masks = check.masks.length === 0 ? "" : `, mask: [${check.masks.map(printTarget).join(", ")}]`;
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
      'expect(page.url().startsWith("https:") ? requests.filter(({ url }) => /^(?:http|ws):/.test(url)) : []).toEqual([]);',
    ];
  },
  "broken images": () => [
    'expect(await page.evaluate(() => [...document.images].filter((one) => (one.currentSrc || one.src) !== "" && one.complete && one.naturalWidth === 0).map((one) => one.src))).toEqual([]);',
  ],
  "horizontal overflow": () => [
    "expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(1);",
  ],
};

/** That axe-core finds nothing of a severity. */
export function a11yLines(
  { severity, target }: Extract<Check, { kind: "a11y" }>,
  needs: Set<Needs>,
): string[] {
  needs.add("axe");
  const scope = target === undefined ? "page" : `${printTarget(target)}`;
  const argument = target === undefined ? "" : "scope";
  const wanted = js(SEVERITIES.slice(SEVERITIES.indexOf(severity)).join(" "));
  return [
    "await page.evaluate(axe.source);",
    `expect(await ${scope}.evaluate(async (${argument}) => {`,
    `  const { violations } = await (globalThis as any).axe.run(${argument || "document"}, { resultTypes: ["violations"], iframes: false });`,
    `  return violations.filter((one: any) => ${wanted}.includes(one.impact)).map((one: any) => one.id);`,
    "})).toEqual([]);",
  ];
}

/** That a time, the layout's shift or the page's weight is below a limit. */
export function metricLines({ metric, limit }: Extract<Check, { kind: "metric" }>): string[] {
  const entries = (type: string) =>
    `await page.evaluate(() => new Promise<PerformanceEntry[]>((resolve) => { new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type: ${js(type)}, buffered: true }); setTimeout(() => resolve([]), 500); }).then((all) => JSON.parse(JSON.stringify(all))))`;
  const navigation = (name: string) =>
    `await page.evaluate(() => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).${name})`;
  const value = {
    "response time": navigation("responseEnd"),
    "load time": navigation("loadEventEnd"),
    fcp: 'await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity)',
    lcp: `(${entries("largest-contentful-paint")}).at(-1)?.startTime ?? Infinity`,
    cls: `(${entries("layout-shift")}).reduce((sum, one) => sum + ((one as any).hadRecentInput ? 0 : (one as any).value), 0)`,
    "page weight":
      'await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, one) => sum + (one as PerformanceResourceTiming).transferSize, 0))',
  }[metric];
  return [`expect(${value}).toBeLessThan${metric === "page weight" ? "OrEqual" : ""}(${limit});`];
}
