import type { Page } from "playwright";
import { type Metric, measured } from "../check/quality.ts";
import { evaluateWithCss } from "./in-page.ts";
import { graded, type Item, type Verdicts } from "./rules.ts";

/** Good and poor values, in milliseconds; cls has no unit. The first five are those of web.dev. */
const LIMITS: Readonly<Record<string, readonly [good: number, poor: number]>> = {
  lcp: [2_500, 4_000],
  cls: [0.1, 0.25],
  inp: [200, 500],
  fcp: [1_800, 3_000],
  ttfb: [800, 1_800],
  tbt: [200, 600],
};

const METRICS = ["ttfb", "fcp", "lcp", "cls", "tbt", "inp"] as const satisfies readonly Metric[];
export type Vitals = Record<string, number>;

/** The vitals of a load, before anything was done on the page. */
export async function loadVitals(page: Page): Promise<Vitals> {
  const { inp: _, ...vitals } = await measured(page);
  return vitals;
}

/** The median of each measured value. */
export function medianOf(loads: readonly Vitals[]): Vitals {
  const vitals: Vitals = {};
  for (const metric of METRICS) {
    const values = loads.flatMap((one) => one[metric] ?? []).toSorted((a, b) => a - b);
    const middle = values[Math.floor(values.length / 2)];
    const digits = metric === "cls" ? 1e3 : 1;
    if (middle !== undefined) vitals[metric] = Math.round(middle * digits) / digits;
  }
  return vitals;
}

/** 1 to 0.9 up to the good value, to 0.5 at the poor one, and 0 from twice the poor one on. */
export function vitalShare(metric: string, value: number): number {
  const [good = 1, poor = 2] = LIMITS[metric] ?? [];
  if (value <= good) return 0.9 + 0.1 * graded(value, 0, good);
  return value <= poor
    ? 0.5 + 0.4 * graded(value, good, poor)
    : 0.5 * graded(value, poor, 2 * poor);
}

export function vitalVerdicts(vitals: Vitals, causes: Readonly<Record<string, Item>>): Verdicts {
  return Object.fromEntries(
    Object.entries(vitals).map(([metric, value]) => {
      const [good = 0] = LIMITS[metric] ?? [];
      const cause = causes[metric] ?? {};
      return [metric, { share: vitalShare(metric, value), items: value <= good ? [] : [cause] }];
    }),
  );
}

/** The elements, or the scripts, that caused a page's vitals. */
export const causesOf = (page: Page): Promise<Record<string, Item>> =>
  evaluateWithCss(page, readCauses);

async function readCauses(cssOf: (element: Element) => string): Promise<Record<string, Item>> {
  const at = (node: unknown): Item => {
    const element =
      node instanceof Element ? node : node instanceof Node ? node.parentElement : null;
    return element?.isConnected === true ? { css: cssOf(element) } : {};
  };
  const entries = (type: string) =>
    new Promise<PerformanceEntry[]>((resolve) => {
      if (!PerformanceObserver.supportedEntryTypes.includes(type)) return resolve([]);
      const observer = new PerformanceObserver((list) => resolve(list.getEntries()));
      observer.observe({ type, buffered: true });
      setTimeout(() => resolve(observer.takeRecords()), 200);
    });
  const number = (entry: unknown, key: string) => Number(Reflect.get(Object(entry), key) ?? 0);
  const [paints, shifts, frames, first, events] = await Promise.all(
    [
      "largest-contentful-paint",
      "layout-shift",
      "long-animation-frame",
      "first-input",
      "event",
    ].map(entries),
  );
  const found: Record<string, Item> = {};
  found.lcp = at(Reflect.get(Object(paints?.at(-1)), "element"));
  const [worst] = (shifts ?? []).toSorted((a, b) => number(b, "value") - number(a, "value"));
  const sources: unknown = Reflect.get(Object(worst), "sources");
  found.cls = at(Reflect.get(Object(Array.isArray(sources) ? sources[0] : undefined), "node"));
  const [slowest] = [...(first ?? []), ...(events ?? [])].toSorted(
    (a, b) => b.duration - a.duration,
  );
  found.inp = at(Reflect.get(Object(slowest), "target"));
  const scripts = (frames ?? []).flatMap((frame) => {
    const list: unknown = Reflect.get(frame, "scripts");
    return Array.isArray(list) ? list : [];
  });
  const [longest] = scripts.toSorted((a, b) => number(b, "duration") - number(a, "duration"));
  const from = Reflect.get(Object(longest), "sourceURL");
  if (typeof from === "string" && from !== "")
    found.tbt = { text: `${from}: ${Math.round(number(longest, "duration"))} ms` };
  return found;
}
