import type { Page } from "playwright";
import type { Check } from "../language/ast.ts";
import type { Outcome } from "./expectation.ts";
import type { PageRecord } from "./record.ts";

/** Runs in the page: the browser's measurements of it; times in milliseconds. */
async function measure(): Promise<Record<string, number | undefined>> {
  const buffered = (type: string) =>
    new Promise<PerformanceEntry[]>((resolve) => {
      if (!PerformanceObserver.supportedEntryTypes.includes(type)) return resolve([]);
      const observer = new PerformanceObserver((list) => {
        observer.disconnect();
        resolve(list.getEntries());
      });
      observer.observe({ type, buffered: true });
      setTimeout(() => resolve([]), 100);
    });
  const [navigation] = performance.getEntriesByType("navigation");
  const [lcp, shifts] = await Promise.all([buffered("largest-contentful-paint"), buffered("layout-shift")]);
  const fcp = performance.getEntriesByName("first-contentful-paint")[0];
  const timing = navigation instanceof PerformanceNavigationTiming ? navigation : undefined;
  const cls = shifts.reduce((sum, shift) => {
    const value: unknown = Reflect.get(shift, "value");
    return Reflect.get(shift, "hadRecentInput") === true || typeof value !== "number" ? sum : sum + value;
  }, 0);
  return {
    "response time": timing?.responseEnd,
    "load time": timing === undefined || timing.loadEventEnd === 0 ? undefined : timing.loadEventEnd,
    fcp: fcp?.startTime,
    lcp: lcp.at(-1)?.startTime,
    cls,
  };
}

/** Checks a time, the layout shift or the page's weight. */
export async function metricOutcome(
  check: Extract<Check, { kind: "metric" }>,
  page: Page,
  record: PageRecord,
): Promise<Outcome> {
  if (check.metric === "page weight") {
    const bytes = await record.weight();
    return {
      passed: bytes <= check.limit,
      actual: `it is ${(bytes / 1e6).toFixed(2)} MB in ${record.counts.requests} requests`,
    };
  }
  const value = (await page.evaluate(measure))[check.metric];
  if (value === undefined) return { passed: false, actual: "the browser has not measured it" };
  const text = check.metric === "cls" ? value.toFixed(3) : `${Math.round(value)} ms`;
  return { passed: value < check.limit, actual: `it is ${text}` };
}
