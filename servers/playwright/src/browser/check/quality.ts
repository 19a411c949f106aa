import type { ElementHandle, Frame, Page } from "playwright";
import { type Absence, SEVERITIES, type Severity, type Target } from "../language/ast.ts";
import type { CheckOf } from "../language/sentences.ts";
import { framesOf, shown } from "../library.ts";
import { isFailed, type PageEvents } from "../page/events.ts";
import { targetOn } from "../page/locate.ts";
import type { Outcome, See } from "./expectation.ts";

const MAX_SHOWN = 5;

/** Checks that something has not happened so far. */
export async function absenceOutcome(
  what: Absence,
  page: Page,
  events: PageEvents,
): Promise<Outcome> {
  const { errors, pageErrors } = events.counts;
  const logged = events.console
    .filter(({ level }) => level === "error")
    .map((line) => {
      const description = events.said(line);
      const isPlain = description === line.text && line.url !== "";
      return isPlain ? `${description} (${line.url}:${line.line})` : description;
    });
  switch (what) {
    case "console errors": {
      // Every browser's console shows uncaught errors, too.
      const thrown = events.pageErrors.map((text) => `uncaught ${text}`);
      return none(what, [...thrown, ...logged], errors + pageErrors);
    }
    case "page errors":
      return none(what, events.pageErrors, pageErrors);
    case "failed requests":
      return none(
        what,
        events.requests
          .filter(isFailed)
          .map(({ method, url, failure, status }) => `${method} ${url}: ${failure ?? status}`),
      );
    case "broken images":
      return none(what, await brokenIn(page));
    case "horizontal overflow": {
      const over = await page.evaluate(() => {
        const root = document.scrollingElement ?? document.documentElement;
        return root.scrollWidth - root.clientWidth;
      });
      const actual = over <= 1 ? "there is none" : `the page is ${over} px too wide`;
      return { passed: over <= 1, actual };
    }
  }
}

function none(what: string, all: readonly string[], count = all.length): Outcome {
  if (count === 0) return { passed: true, actual: "there are none" };
  const noun = count === 1 ? what.replace(/s$/, "") : what;
  const list = all.slice(0, MAX_SHOWN).map((item) => shown(item, 240));
  const first = list.length === 0 ? "" : `, the first: ${list.join(", then ")}`;
  return { passed: false, actual: `${count} ${noun}${first}` };
}

/** The broken images in all documents of a page; one that is going away has none. */
async function brokenIn(page: Page): Promise<string[]> {
  // A locator also finds what is in shadow roots.
  const look = (frame: Frame) => frame.locator("img").evaluateAll(brokenImages);
  const [main = page.mainFrame(), ...frames] = framesOf(page);
  const inner = frames.map((frame) => look(frame).catch(() => []));
  return [...(await look(main)), ...(await Promise.all(inner)).flat()];
}

/** Runs in the page: the sources of images that cannot be loaded, also of those that are not loaded yet. */
async function brokenImages(all: HTMLImageElement[]): Promise<string[]> {
  const sourceOf = (image: HTMLImageElement) => image.currentSrc || image.src;
  const isBroken = (image: HTMLImageElement) =>
    new Promise<boolean>((resolve) => {
      if (image.complete) return resolve(image.naturalWidth === 0);
      const probe = image.loading === "lazy" ? new Image() : image;
      probe.addEventListener("load", () => resolve(false));
      probe.addEventListener("error", () => resolve(true));
      setTimeout(resolve, 5_000, false);
      if (probe !== image) probe.src = sourceOf(image);
    });
  const images = all.filter((image) => sourceOf(image) !== "").slice(0, 500);
  const broken = await Promise.all(images.map(isBroken));
  return images.flatMap((image, n) => (broken[n] ? [sourceOf(image).slice(0, 500)] : []));
}

const MAX_ELEMENTS = 10;

interface Violation {
  readonly id: string;
  readonly impact: Severity;
  /** The elements that violate it, as CSS. */
  readonly elements: readonly string[];
  readonly count: number;
}

/** The violations that axe-core finds in the page with its frames or in the given element, worst first. */
export async function violationsOf(
  page: Page,
  see: See,
  scope: ElementHandle | null = null,
): Promise<Violation[]> {
  // The readable form is 1.5 MB: a page takes longer to load it than to apply its rules.
  const { source } = (await import("axe-core/axe.min.js")).default;
  const [main, ...frames] = framesOf(page);
  const load = `if (!window.axe) { ${source} }`;
  await main?.evaluate(load);
  // In each frame, axe-core answers the one in the page.
  await Promise.all(frames.map((frame) => frame.evaluate(load).catch(() => undefined)));
  const results = await page.evaluate(runAxe, scope);
  return results
    .map(({ impact, elements, id }) => ({
      id,
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
): Promise<{ id: string; impact: string; elements: string[] }[]> {
  const axe: { run(context: Node, options: object): Promise<{ violations: unknown[] }> } =
    Reflect.get(window, "axe");
  const { violations } = await axe.run(scope ?? document, { resultTypes: ["violations"] });
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return violations.map((violation) => {
    const { id, impact, nodes } = Object(violation);
    const elements = listOf(nodes)
      .slice(0, 200)
      .map((node) => String(Object(node).target).slice(0, 2_000));
    return { id: String(id), impact: String(impact), elements };
  });
}

/** Checks that there is no violation of at least this severity. */
export async function a11yOutcome(
  page: Page,
  minimum: Severity,
  target: Target | undefined,
  see: See,
): Promise<Outcome> {
  // The page has settled, so there is no point in waiting.
  const scopes = target === undefined ? [null] : await targetOn(page, target).elementHandles();
  const [scope] = scopes;
  if (scope === undefined) return { passed: false, actual: "nothing matches the target" };
  if (scopes.length > 1)
    return { passed: false, actual: `${scopes.length} elements match the target` };
  const from = SEVERITIES.indexOf(minimum);
  const rules = (await violationsOf(page, see, scope)).filter(
    ({ impact }) => SEVERITIES.indexOf(impact) >= from,
  );
  if (rules.length === 0) return { passed: true, actual: "there are none" };
  const lines = rules.slice(0, MAX_SHOWN).map(({ id, impact, count, elements }) => {
    const more = count > 1 ? ` and ${count - 1} more` : "";
    return `${id} (${impact}) at ${shown(elements[0] ?? "", 80).slice(1, -1)}${more}`;
  });
  const rest = rules.length > MAX_SHOWN ? `; and ${rules.length - MAX_SHOWN} more rules` : "";
  const count = `${rules.length} ${rules.length === 1 ? "rule is" : "rules are"} violated`;
  return { passed: false, actual: `${count}: ${lines.join("; ")}${rest}` };
}

type Metric = CheckOf<"time">["metric"] | "cls";

/**
 * One of the browser's measurements of a page, as Google's web-vitals defines them; undefined if there is none. Times
 * are in milliseconds.
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
      observer.observe({ type, buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
      setTimeout(() => resolve([]), 200);
    });
  const [timing] = performance.getEntriesByType("navigation");
  if (!(timing instanceof PerformanceNavigationTiming)) return undefined;
  switch (metric) {
    case "response time":
      return timing.responseEnd;
    case "load time":
      return timing.loadEventEnd === 0 ? undefined : timing.loadEventEnd;
    case "lcp":
      return (await buffered("largest-contentful-paint")).at(-1)?.startTime;
    case "cls": {
      // The largest session window: shifts less than a second apart, within five seconds.
      let [most, sum, first, last] = [0, 0, 0, 0];
      for (const shift of await buffered("layout-shift")) {
        if (Reflect.get(shift, "hadRecentInput") === true) continue;
        const isNew = shift.startTime - last >= 1_000 || shift.startTime - first >= 5_000;
        if (isNew) [sum, first] = [0, shift.startTime];
        last = shift.startTime;
        sum += Number(Reflect.get(shift, "value"));
        most = Math.max(most, sum);
      }
      return most;
    }
  }
}

const PAINT_MS = 10_000;
const ONE_PIXEL = { x: 0, y: 0, width: 1, height: 1 };

/** Checks a time or the layout shift. */
export async function metricOutcome(check: CheckOf<"time" | "cls">, page: Page): Promise<Outcome> {
  const metric = check.kind === "cls" ? "cls" : check.metric;
  // The browser measures what it has painted, as a picture shows: on a busy machine, what was added last comes later.
  const isPainted = metric === "lcp" || metric === "cls";
  const painting = { caret: "initial", clip: ONE_PIXEL, timeout: PAINT_MS } as const;
  try {
    if (isPainted) await page.screenshot(painting);
  } catch (error) {
    if (Object(error).name !== "TimeoutError") throw error;
    const actual = `after ${PAINT_MS / 1_000} s the page is not painted, or a font is missing`;
    return { passed: false, actual: `it is not measured: ${actual}` };
  }
  const value = await page.evaluate<number | undefined, Metric>(measure, metric);
  if (value === undefined) return { passed: false, actual: "the browser has not measured it" };
  const text = metric === "cls" ? value.toFixed(3) : `${Math.round(value)} ms`;
  return { passed: value < check.limit, actual: `it is ${text}` };
}
