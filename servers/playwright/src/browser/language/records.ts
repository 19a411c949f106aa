import { globRegex, js, printTarget } from "../export/print.ts";
import {
  type Absence,
  type RequestPattern,
  SEVERITIES,
  type TextComparison,
  type TIMES,
} from "./ast.ts";
import { escaped } from "./matching.ts";
import { containing } from "./plan.ts";
import { type Needs, recorded, type Spec } from "./rows.ts";

/** `expect(value)…`, after the collector that it needs. */
const none = ({ needs }: Spec, need: Needs) => {
  needs.add(need);
  return [`expect(${need}).toEqual([]);`];
};
const some = ({ needs }: Spec, need: Needs, test: string) => {
  needs.add(need);
  return [`expect(${need}.some(${test})).toBe(true);`];
};

/** Code that tests whether a request matches. */
function printPattern({ method, glob }: RequestPattern): string {
  const url = `${globRegex(glob)}.test(request.url)`;
  return method === undefined ? url : `request.method === ${js(method)} && ${url}`;
}
const requested = (spec: Spec, need: Needs, pattern: RequestPattern, more = "") =>
  some(spec, need, `(request) => ${printPattern(pattern)}${more}`);
const bodyHas = (text: string) => ` && ${containing(text)}.test(request.body)`;

/** Code that tests whether the text in a variable matches. */
const compares = (variable: string, { how, value, flags }: TextComparison, isNested = false) =>
  how === "is" && isNested
    ? `(${variable} === ${js(value)})`
    : how === "is"
      ? `${variable} === ${js(value)}`
      : `${how === "contains" ? containing(value) : new RegExp(value, flags)}.test(${variable})`;

/** Code that compares a stored value, which may be missing. */
function stored(value: string, compare: TextComparison): string[] {
  const { how, value: wanted, flags, negated } = compare;
  const matcher =
    how === "is"
      ? `toBe(${js(wanted)})`
      : `toMatch(${how === "contains" ? containing(wanted) : new RegExp(wanted, flags)})`;
  return [`expect(${value} ?? "").${negated ? "not." : ""}${matcher};`];
}

/** A file name in which `*` matches anything, as a pattern. */
const nameRegex = (name: string) => `/^${name.split("*").map(escaped).join(".*")}$/s`;

export const RECORDS = {
  status: recorded("the page", "status [is] {range}", ["status is 200", "status 2xx"], {
    spec({ range: { from, to } }, { needs }) {
      needs.add("status");
      return from === to
        ? [`expect(status).toBe(${from});`]
        : [`expect(Math.floor(status / 100)).toBe(${from / 100});`];
    },
  }),
  absence: recorded(
    "absence",
    "no {what:absence}",
    [
      "no console errors",
      "no console warnings",
      "no page errors",
      "no failed requests",
      "no broken images",
      "no horizontal overflow",
      "no mixed content",
    ],
    {
      isLate: true,
      spec: ({ what }, spec) => ABSENT[what](spec),
    },
  ),
  "no requests": recorded("absence", "no requests to {request}", ["no requests to **/ads/**"], {
    isLate: true,
    spec({ request }, { needs }) {
      needs.add("requests");
      return [`expect(requests.filter((request) => ${printPattern(request)})).toEqual([]);`];
    },
  }),
  a11y: recorded(
    "absence",
    "no [{severity}] a11y violations [in {target}]",
    ["no serious a11y violations in main"],
    {
      isLate: true,
      /** Checks that axe-core finds no violations of a severity. */
      spec({ severity = "minor", target }, { needs, page }) {
        needs.add("axe");
        const scope = target === undefined ? page : printTarget(target, page);
        const argument = target === undefined ? "" : "scope";
        // axe-core knows violations without a severity, which count as minor.
        const wanted = JSON.stringify(SEVERITIES.slice(SEVERITIES.indexOf(severity)));
        const filter =
          severity === "minor" ? "" : `.filter((one) => ${wanted}.includes(String(one.impact)))`;
        return [
          `await ${page}.evaluate(axe.source);`,
          `expect(await ${scope}.evaluate(async (${argument}) => {`,
          `  const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(${argument || "document"}, { resultTypes: ["violations"], iframes: false });`,
          `  return violations${filter}.map((one) => one.id);`,
          "})).toEqual([]);",
        ];
      },
    },
  ),
  request: recorded(
    "the network",
    "request to {request} [contains {contains:text}]",
    ["request to POST /api/items contains 'Lamp'", "request to **/api/items"],
    {
      spec: ({ request, contains }, spec) =>
        requested(spec, "requests", request, contains === undefined ? "" : bodyHas(contains)),
    },
  ),
  response: recorded(
    "the network",
    "response {request} status is {range}",
    ["response /api/items status is 200"],
    {
      spec: ({ request, range: { from, to } }, spec) =>
        requested(
          spec,
          "requests",
          request,
          ` && request.status ${from === to ? `=== ${from}` : `>= ${from} && request.status <= ${to}`}`,
        ),
    },
  ),
  "response body": recorded(
    "the network",
    "response {request} contains {contains:text}",
    ["response /api/items contains 'Lamp'"],
    {
      spec: ({ request, contains }, spec) =>
        requested(spec, "exchanges", request, bodyHas(contains)),
    },
  ),
  header: recorded(
    "the network",
    "response {request} has header {name:header} [{compare:wanted}]",
    ["response /api/items has header 'content-type' contains 'json'"],
    {
      spec({ request, name, compare }, { needs }) {
        needs.add("requests");
        const value = `request.headers[${js(name.toLowerCase())}] ?? ""`;
        const test =
          compare === undefined
            ? `${js(name.toLowerCase())} in request.headers`
            : `${compare.negated ? "!" : ""}${compares(`(${value})`, compare, true)}`;
        return [
          `expect(requests.some((request) => ${printPattern(request)} && ${test})).toBe(true);`,
        ];
      },
    },
  ),
  cookie: recorded("what it stored", "cookie {name:text} {compare}", ["cookie 'theme' is 'dark'"], {
    spec: ({ name, compare }, { page }) =>
      stored(
        `(await ${page}.context().cookies(${page}.url())).find(({ name }) => name === ${js(name)})?.value`,
        compare,
      ),
  }),
  "cookie exists": recorded(
    "what it stored",
    "cookie {name:text} {exists}",
    ["cookie 'sid' exists"],
    {
      spec: ({ name, exists }, { page }) => [
        `expect((await ${page}.context().cookies(${page}.url())).some(({ name }) => name === ${js(name)})).toBe(${exists});`,
      ],
    },
  ),
  "local storage": recorded(
    "what it stored",
    "localStorage {name:text} {compare}",
    ["localStorage 'theme' is 'dark'"],
    {
      spec: ({ name, compare }, { page }) =>
        stored(
          `(await ${page}.evaluate((name) => localStorage.getItem(name), ${js(name)}))`,
          compare,
        ),
    },
  ),
  "local storage exists": recorded(
    "what it stored",
    "localStorage {name:text} {exists}",
    ["localStorage 'theme' exists"],
    {
      spec: ({ name, exists }, { page }) => [
        `expect(await ${page}.evaluate((name) => localStorage.getItem(name) !== null, ${js(name)})).toBe(${exists});`,
      ],
    },
  ),
  console: recorded(
    "the network",
    "console contains {contains:text}",
    ["console contains 'ready'"],
    {
      spec: ({ contains }, spec) =>
        some(spec, "consoleLines", `(line) => ${containing(contains)}.test(line)`),
    },
  ),
  download: recorded(
    "what it did",
    "download {name:text}",
    ["download 'report.csv'", "download '*.pdf'"],
    {
      spec: ({ name }, spec) => some(spec, "downloads", `(name) => ${nameRegex(name)}.test(name)`),
    },
  ),
  "dialog message": recorded(
    "what it did",
    "dialog message {compare}",
    ["dialog message is 'Sure?'"],
    {
      spec({ compare }, { needs }) {
        needs.add("dialogs");
        return [
          `expect(dialogs.some((message) => ${compares("message", compare)})).toBe(${!compare.negated});`,
        ];
      },
    },
  ),
  time: recorded(
    "quality",
    "{metric:time} under {limit:duration}",
    [
      "load time under 2s",
      "response time under 500ms",
      "ttfb under 200ms",
      "fcp under 1s",
      "lcp under 2.5s",
      "inp under 200ms",
      "tbt under 200ms",
    ],
    {
      isLate: true,
      spec: ({ metric, limit }, { page }) => measured(TIMED[metric](page), limit),
    },
  ),
  cls: recorded("quality", "cls under {limit:decimal}", ["cls under 0.1"], {
    isLate: true,
    spec: ({ limit }, { page }) =>
      measured(
        `(${entries(page, "layout-shift")} as (PerformanceEntry & { hadRecentInput: boolean; value: number })[]).reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0)`,
        limit,
      ),
  }),
  "page weight": recorded("quality", "page weight under {limit:size}", ["page weight under 2 MB"], {
    isLate: true,
    spec: ({ limit }, { page }) =>
      measured(
        `await ${page}.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, one) => sum + (one as PerformanceResourceTiming).transferSize, 0))`,
        limit,
        "toBeLessThanOrEqual",
      ),
  }),
};

const ABSENT: Readonly<Record<Absence, (spec: Spec) => string[]>> = {
  "console errors": (spec) => none(spec, "consoleErrors"),
  "console warnings": (spec) => none(spec, "consoleWarnings"),
  "page errors": (spec) => none(spec, "pageErrors"),
  "failed requests": (spec) => none(spec, "failedRequests"),
  "mixed content": ({ needs, page }) => {
    needs.add("requests");
    return [
      `expect(${page}.url().startsWith("https:") ? requests.filter(({ url }) => /^(?:http|ws):/.test(url)) : []).toEqual([]);`,
    ];
  },
  "broken images": ({ page }) => [
    `expect(await ${page}.evaluate(() => [...document.images].filter((one) => (one.currentSrc || one.src) !== "" && one.complete && one.naturalWidth === 0).map((one) => one.src))).toEqual([]);`,
  ],
  "horizontal overflow": ({ page }) => [
    `expect(await ${page}.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(1);`,
  ],
};

const measured = (value: string, limit: number, matcher = "toBeLessThan") => [
  `expect(${value}).${matcher}(${limit});`,
];
const entries = (page: string, type: string) =>
  `await ${page}.evaluate(() => new Promise<PerformanceEntry[]>((resolve) => { new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type: ${js(type)}, buffered: true }); setTimeout(() => resolve([]), 500); }).then((all) => JSON.parse(JSON.stringify(all))))`;
const navigation = (page: string, name: string) =>
  `await ${page}.evaluate(() => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).${name})`;
/** Code that measures a time in milliseconds. */
const TIMED: Readonly<Record<(typeof TIMES)[number], (page: string) => string>> = {
  "response time": (page) => navigation(page, "responseEnd"),
  "load time": (page) => navigation(page, "loadEventEnd"),
  fcp: (page) =>
    `await ${page}.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity)`,
  ttfb: (page) => navigation(page, "responseStart"),
  inp: (page) =>
    `[...(${entries(page, "first-input")}), ...(${entries(page, "event")})].reduce((most, one) => Math.max(most, "interactionId" in one && one.interactionId !== 0 ? one.duration : 0), 0)`,
  tbt: (page) =>
    `(${entries(page, "longtask")}).reduce((sum, one) => sum + Math.max(0, one.duration - 50), 0)`,
  lcp: (page) => `(${entries(page, "largest-contentful-paint")}).at(-1)?.startTime ?? Infinity`,
};
