import type { ElementHandle, Page } from "playwright";
import { type CheckOf, SEVERITIES, type Severity, type Target } from "../language/ast.ts";
import { shown } from "../library.ts";
import { secretsOn } from "../secrets/guard.ts";
import type { PageEvents } from "../session/page-events.ts";
import { targetOn } from "../session/targets.ts";
import type { Outcome } from "./expectation.ts";

const MAX_ELEMENTS = 10;

interface Violation {
  readonly id: string;
  readonly impact: Severity;
  readonly help: string;
  /** The elements that violate it, as CSS. */
  readonly elements: readonly string[];
  readonly count: number;
  /** What is wrong with the first of them. */
  readonly reason: string;
}

/** The violations that axe-core finds in the page or the given element, worst first. */
export async function violationsOf(
  page: Page,
  scope: ElementHandle | null = null,
): Promise<Violation[]> {
  // The readable form is 1.5 MB: a page takes longer to load it than to apply its rules.
  const { source } = (await import("axe-core/axe.min.js")).default;
  await page.evaluate(`if (!window.axe) { ${source} }`);
  const found = await page.evaluate(runAxe, scope);
  // The page's texts in them are cut once secrets are removed: a beginning of one would not be recognized.
  const see = secretsOn(page)?.seen ?? ((text: string) => text);
  return found
    .map(({ impact, help, reason, elements, ...one }) => ({
      ...one,
      help: see(help).slice(0, 300),
      reason: see(reason).slice(0, 300),
      impact: SEVERITIES.find((severity) => severity === impact) ?? "minor",
      elements: elements.slice(0, MAX_ELEMENTS).map((css) => see(css).slice(0, 200)),
      count: elements.length,
    }))
    .sort(
      (a, b) =>
        SEVERITIES.indexOf(b.impact) - SEVERITIES.indexOf(a.impact) || (a.id < b.id ? -1 : 1),
    );
}

/** Runs in the page, where axe-core is loaded. */
async function runAxe(
  scope: Node | null,
): Promise<{ id: string; impact: string; help: string; elements: string[]; reason: string }[]> {
  const axe: {
    run(context: Node, options: object): Promise<{ violations: unknown[] }>;
  } = Reflect.get(window, "axe");
  const { violations } = await axe.run(scope ?? document, {
    resultTypes: ["violations"],
    iframes: false,
  });
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return violations.map((one) => {
    const { id, impact, help, nodes } = Object(one);
    const elements = listOf(nodes)
      .slice(0, 200)
      .map((node) => String(Object(node).target).slice(0, 2_000));
    const summary = String(Object(listOf(nodes)[0]).failureSummary ?? "");
    const reason = (summary.split("\n")[1] ?? "").trim().slice(0, 2_000);
    return {
      ...{ id: String(id), impact: String(impact), help: String(help).slice(0, 2_000) },
      ...{ elements, reason },
    };
  });
}

/** Checks that there is no violation of at least this severity. */
export async function a11yOutcome(
  page: Page,
  minimum: Severity,
  target?: Target,
): Promise<Outcome> {
  // The page has settled, so there is no point in waiting.
  const scopes = target === undefined ? [null] : await targetOn(page, target).elementHandles();
  const [scope] = scopes;
  if (scope === undefined) return { passed: false, actual: "nothing matches the target" };
  if (scopes.length > 1)
    return { passed: false, actual: `${scopes.length} elements match the target` };
  const from = SEVERITIES.indexOf(minimum);
  const found = (await violationsOf(page, scope)).filter(
    ({ impact }) => SEVERITIES.indexOf(impact) >= from,
  );
  if (found.length === 0) return { passed: true, actual: "there are none" };
  const lines = found.slice(0, 5).map(({ id, impact, count, elements }) => {
    const more = count > 1 ? ` and ${count - 1} more` : "";
    return `${id} (${impact}) at ${shown(elements[0] ?? "", 80).slice(1, -1)}${more}`;
  });
  const rest = found.length > 5 ? `; and ${found.length - 5} more rules` : "";
  const count = `${found.length} ${found.length === 1 ? "rule is" : "rules are"} violated`;
  return { passed: false, actual: `${count}: ${lines.join("; ")}${rest}` };
}

type Metric = CheckOf<"time">["metric"] | "cls";

/**
 * One of the browser's measurements of a page; undefined if there is none. Times are in milliseconds.
 *
 * Runs in the page.
 */
async function measure(metric: Metric): Promise<number | undefined> {
  const buffered = (type: string) =>
    new Promise<PerformanceEntry[]>((resolve) => {
      if (!PerformanceObserver.supportedEntryTypes.includes(type)) return resolve([]);
      const observer = new PerformanceObserver((list) => {
        observer.disconnect();
        resolve(list.getEntries());
      });
      observer.observe({ type, buffered: true });
      const known = observer.takeRecords();
      if (known.length > 0) resolve(known);
      else setTimeout(() => resolve([]), 200);
    });
  const [navigation] = performance.getEntriesByType("navigation");
  const timing = navigation instanceof PerformanceNavigationTiming ? navigation : undefined;
  switch (metric) {
    case "response time":
      return timing?.responseEnd;
    case "load time":
      return timing === undefined || timing.loadEventEnd === 0 ? undefined : timing.loadEventEnd;
    case "ttfb":
      return timing?.responseStart;
    case "fcp":
      return performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    case "lcp":
      return (await buffered("largest-contentful-paint")).at(-1)?.startTime;
    case "cls":
      return (await buffered("layout-shift")).reduce((sum, shift) => {
        const value: unknown = Reflect.get(shift, "value");
        return Reflect.get(shift, "hadRecentInput") === true || typeof value !== "number"
          ? sum
          : sum + value;
      }, 0);
    case "tbt":
      return (await buffered("longtask")).reduce(
        (sum, { duration }) => sum + Math.max(0, duration - 50),
        0,
      );
    case "inp": {
      // Of the later ones, only those of over 100 ms are kept.
      const events = await Promise.all([buffered("first-input"), buffered("event")]);
      const inputs = events.flat().filter((one) => Number(Reflect.get(one, "interactionId")) > 0);
      return inputs.length === 0 ? undefined : Math.max(...inputs.map(({ duration }) => duration));
    }
  }
}

const MEASURED = ["ttfb", "fcp", "lcp", "load time", "cls", "tbt", "inp"] as const;

/** Those of the browser's measurements that it has of a page. */
export async function measured(page: Page): Promise<Record<string, number>> {
  const values = await Promise.all(
    MEASURED.map((metric) => page.evaluate<number | undefined, Metric>(measure, metric)),
  );
  return Object.fromEntries(
    MEASURED.flatMap((metric, n) => {
      const value = values[n];
      return value === undefined
        ? []
        : [[metric, metric === "cls" ? round(value, 3) : round(value, 0)]];
    }),
  );
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** Checks the page's weight. */
export async function weightOutcome(limit: number, events: PageEvents): Promise<Outcome> {
  const bytes = await events.weight();
  const actual = `it is ${(bytes / 1e6).toFixed(2)} MB in ${events.counts.requests} requests`;
  return { passed: bytes <= limit, actual };
}

/** Checks a time or the layout shift. */
export async function metricOutcome(check: CheckOf<"time" | "cls">, page: Page): Promise<Outcome> {
  const value = await page.evaluate<number | undefined, Metric>(
    measure,
    check.kind === "cls" ? "cls" : check.metric,
  );
  if (value === undefined) return { passed: false, actual: "the browser has not measured it" };
  const text = check.kind === "cls" ? value.toFixed(3) : `${Math.round(value)} ms`;
  return { passed: value < check.limit, actual: `it is ${text}` };
}
