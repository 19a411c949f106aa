import { type Check, SEVERITIES } from "./ast.ts";
import { js, locator } from "./export-words.ts";

/** What must be collected from the beginning, or imported, for a check to be made. */
export type Needs =
  | "axe"
  | "consoleErrors"
  | "consoleWarnings"
  | "consoleLines"
  | "pageErrors"
  | "failedRequests"
  | "requests"
  | "status";

/** Before a check that looks once. */
export const SETTLED = 'await page.waitForLoadState("networkidle");';

/** That axe-core finds nothing of a severity. */
export function a11yLines(
  { severity, target }: Extract<Check, { kind: "a11y" }>,
  needs: Set<Needs>,
): string[] {
  needs.add("axe");
  const scope = target === undefined ? "page" : `${locator(target)}.first()`;
  const argument = target === undefined ? "" : "scope";
  const wanted = js(SEVERITIES.slice(SEVERITIES.indexOf(severity)).join(" "));
  return [
    SETTLED,
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
  return [SETTLED, `expect(${value}).toBeLessThan${metric === "page weight" ? "OrEqual" : ""}(${limit});`];
}
