import { globRegex, js, printTarget } from "../export/print.ts";
import { type Absence, type RequestPattern, SEVERITIES, type TextComparison, type TIMES } from "./ast.ts";
import type { CheckRow } from "./checks.ts";
import { escaped } from "./matching.ts";
import type { ArgsOf } from "./pattern.ts";
import { containing } from "./plan.ts";

/** A spec that is being written: what it needs, and the variable of the current tab. */
export interface Spec {
  /** The origin of the first page, its `baseURL`. */
  readonly base: string;
  /** The last page that a step opened by its address. */
  url: string;
  readonly needs: Set<Needs>;
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

/** A form about what a run recorded; `check/` decides it. */
export interface RecordRow<Form extends string = string> extends CheckRow<Form> {
  /** It is checked once, after the page has settled: absence is trivially true at first. */
  readonly isLate: boolean;
  /** Its lines in a spec. */
  spec(args: ArgsOf<Form>, spec: Spec): string[];
}

const recorded = <Form extends string>(
  form: Form,
  row: Omit<RecordRow<Form>, "form" | "also" | "isLate"> & Partial<Pick<RecordRow<Form>, "also" | "isLate">>,
): RecordRow<Form> => ({ form, also: [], isLate: false, ...row });

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
  status: recorded("status is {range}", {
    topic: "the page",
    example: "status is 200",
    examples: ["status 2xx"],
    also: [
      "[page|it] (returns|responds with|has|gives|has status) [status|code|a|http] [status|code] {range}",
      "status {range}",
    ],
    spec({ range: { from, to } }, { needs }) {
      needs.add("status");
      return from === to
        ? [`expect(status).toBe(${from});`]
        : [`expect(Math.floor(status / 100)).toBe(${from / 100});`];
    },
  }),
  absence: recorded("no {what:absence}", {
    topic: "absence",
    example: "no console errors",
    also: [
      "(there|see|has|with|without|page has|be) no {what:absence} [in the console]",
      "without [any] {what:absence}",
      [
        "console (has|shows|contains|reports) no (errors|error|js errors|javascript errors)",
        { what: "console errors" },
      ],
      ["console is (clean|empty|free of errors|error free)", { what: "console errors" }],
      ["(not have|not see|not contain|not has|not) [any] {what:absence}", {}],
      ["page not scroll horizontally", { what: "horizontal overflow" }],
      ["(page|console) not has [any] {what:absence}", {}],
      "page (has|contains|shows|reports) no {what:absence}",
    ],
    examples: [
      "no console warnings",
      "no page errors",
      "no failed requests",
      "no broken images",
      "no horizontal overflow",
      "no mixed content",
    ],
    isLate: true,
    spec: ({ what }, spec) => ABSENT[what](spec),
  }),
  "no requests": recorded("no requests to {request}", {
    topic: "absence",
    example: "no requests to **/ads/**",
    also: ["(there|see|has|makes|send) no requests (to|made to|sent to|for) {request}"],
    isLate: true,
    spec({ request }, { needs }) {
      needs.add("requests");
      return [`expect(requests.filter((request) => ${printPattern(request)})).toEqual([]);`];
    },
  }),
  a11y: recorded("no [{severity}] a11y violations [in {target}]", {
    topic: "absence",
    example: "no serious a11y violations in main",
    also: [
      "(there|has|have|see) no [{severity}] a11y violations [in {target}]",
      "(page|site|app|application) is accessible",
      "(page|site|app|application) (has|have) no [{severity}] a11y violations",
    ],
    isLate: true,
    /** Checks that axe-core finds no violations of a severity. */
    spec({ severity = "minor", target }, { needs, page }) {
      needs.add("axe");
      const scope = target === undefined ? page : printTarget(target, page);
      const argument = target === undefined ? "" : "scope";
      // axe-core knows violations without a severity, which count as minor.
      const wanted = JSON.stringify(SEVERITIES.slice(SEVERITIES.indexOf(severity)));
      const filter = severity === "minor" ? "" : `.filter((one) => ${wanted}.includes(String(one.impact)))`;
      return [
        `await ${page}.evaluate(axe.source);`,
        `expect(await ${scope}.evaluate(async (${argument}) => {`,
        `  const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(${argument || "document"}, { resultTypes: ["violations"], iframes: false });`,
        `  return violations${filter}.map((one) => one.id);`,
        "})).toEqual([]);",
      ];
    },
  }),
  request: recorded("request to {request} [contains {contains:text}]", {
    topic: "the network",
    example: "request to POST /api/items contains 'Lamp'",
    also: [
      "(a|an|the) request (to|is made to|was made to|is sent to|was sent to|goes to|for) {request} [contains {contains:text}]",
      "request (is made to|was made to|is sent to|was sent to|for|should be made to|should be sent to) {request}",
    ],
    examples: ["request to **/api/items"],
    spec: ({ request, contains }, spec) =>
      requested(spec, "requests", request, contains === undefined ? "" : bodyHas(contains)),
  }),
  response: recorded("response {request} status is {range}", {
    topic: "the network",
    example: "response /api/items status is 200",
    also: [
      "(a|an|the) response (of|from|to|for) {request} (is|has|has status|status is|was|should be) {range}",
      "response (of|from|to|for) {request} (is|has|has status|was) {range}",
      "{request:endpoint} (responds with|returns|should return|should respond with|returned) [status|a|http] [code] {range}",
      "response of {request} [has] status {range}",
      "response {request} [has] status {range}",
    ],
    spec: ({ request, range: { from, to } }, spec) =>
      requested(
        spec,
        "requests",
        request,
        ` && request.status ${from === to ? `=== ${from}` : `>= ${from} && request.status <= ${to}`}`,
      ),
  }),
  "response body": recorded("response {request} contains {contains:text}", {
    topic: "the network",
    example: "response /api/items contains 'Lamp'",
    also: [
      "(a|an|the) response (of|from|to|for) {request} contains {contains:text}",
      "response (from|to|for) {request} contains {contains:text}",
      "response of {request} contains {contains:text}",
    ],
    spec: ({ request, contains }, spec) => requested(spec, "exchanges", request, bodyHas(contains)),
  }),
  header: recorded("response {request} has header {name:header} [{compare:wanted}]", {
    topic: "the network",
    example: "response /api/items has header 'content-type' contains 'json'",
    also: [
      "response (of|from|to|for) {request} has [the|a] header {name:header} [{compare:wanted}]",
      "response {request} header {name:header} {compare}",
      "[response] header {name:header} (of|from) {request} {compare}",
    ],
    spec({ request, name, compare }, { needs }) {
      needs.add("requests");
      const value = `request.headers[${js(name.toLowerCase())}] ?? ""`;
      const test =
        compare === undefined
          ? `${js(name.toLowerCase())} in request.headers`
          : `${compare.negated ? "!" : ""}${compares(`(${value})`, compare, true)}`;
      return [`expect(requests.some((request) => ${printPattern(request)} && ${test})).toBe(true);`];
    },
  }),
  cookie: recorded("cookie {name:text} {compare}", {
    topic: "what it stored",
    example: "cookie 'theme' is 'dark'",
    also: ["value of cookie {name:text} {compare}", "cookie {name:text} has [the] value {compare:wanted}"],
    spec: ({ name, compare }, { page }) =>
      stored(
        `(await ${page}.context().cookies(${page}.url())).find(({ name }) => name === ${js(name)})?.value`,
        compare,
      ),
  }),
  "cookie exists": recorded("cookie {name:text} {exists}", {
    topic: "what it stored",
    example: "cookie 'sid' exists",
    also: [
      ["cookie {name:text} is (set|present|stored|there)", { exists: true }],
      ["there cookie {name:text}", { exists: true }],
      ["no cookie {name:quoted}", { exists: false }],
      ["there is no cookie {name:text}", { exists: false }],
      ["cookie {name:text} is not (set|present|stored|there)", { exists: false }],
    ],
    spec: ({ name, exists }, { page }) => [
      `expect((await ${page}.context().cookies(${page}.url())).some(({ name }) => name === ${js(name)})).toBe(${exists});`,
    ],
  }),
  "local storage": recorded("localStorage {name:text} {compare}", {
    topic: "what it stored",
    example: "localStorage 'theme' is 'dark'",
    also: [
      "value of localStorage {name:text} {compare}",
      "localStorage {name:text} has [the] value {compare:wanted}",
    ],
    spec: ({ name, compare }, { page }) =>
      stored(`(await ${page}.evaluate((name) => localStorage.getItem(name), ${js(name)}))`, compare),
  }),
  "local storage exists": recorded("localStorage {name:text} {exists}", {
    topic: "what it stored",
    example: "localStorage 'theme' exists",
    also: [
      ["localStorage {name:text} is (set|present|stored|there)", { exists: true }],
      ["localStorage {name:text} is not (set|present|stored|there)", { exists: false }],
      ["no localStorage {name:quoted}", { exists: false }],
    ],
    spec: ({ name, exists }, { page }) => [
      `expect(await ${page}.evaluate((name) => localStorage.getItem(name) !== null, ${js(name)})).toBe(${exists});`,
    ],
  }),
  console: recorded("console contains {contains:text}", {
    topic: "the network",
    example: "console contains 'ready'",
    also: [
      "[the] [browser] console [log|output] (contains|shows|has|logs|prints) [message|the message|text|log] {contains:text}",
    ],
    spec: ({ contains }, spec) => some(spec, "consoleLines", `(line) => ${containing(contains)}.test(line)`),
  }),
  download: recorded("download {name:text}", {
    topic: "what it did",
    example: "download 'report.csv'",
    also: [
      "(file|a file|the file|a download of|download of|the download|a download named|download named) {name:text} (is|was|gets|should be|should get|has been|to be) downloaded",
      "{name:quoted} (is|was|gets|should be|has been) downloaded",
      "(a file named|file) {name:text} [downloads|starts downloading|is downloading]",
    ],
    examples: ["download '*.pdf'"],
    spec: ({ name }, spec) => some(spec, "downloads", `(name) => ${nameRegex(name)}.test(name)`),
  }),
  "dialog message": recorded("dialog message {compare}", {
    topic: "what it did",
    example: "dialog message is 'Sure?'",
    also: [
      "(a|an|the|see an|see a|see the) dialog (with|says|saying|shows|message|with message|with text|with the text|with the message|text|reads|displays) {compare:wanted}",
      "dialog text {compare}",
      "(a|an|the) dialog message {compare}",
    ],
    spec({ compare }, { needs }) {
      needs.add("dialogs");
      return [
        `expect(dialogs.some((message) => ${compares("message", compare)})).toBe(${!compare.negated});`,
      ];
    },
  }),
  time: recorded("{metric:time} under {limit:duration}", {
    topic: "quality",
    example: "load time under 2s",
    also: [
      [
        "(page|site|it|app|the site) (loads|load|is loaded|loaded|should load|must load|opens) (in|within|in under|in less than|under|faster than) {limit:duration}",
        { metric: "load time" },
      ],
    ],
    examples: [
      "response time under 500ms",
      "ttfb under 200ms",
      "fcp under 1s",
      "lcp under 2.5s",
      "inp under 200ms",
      "tbt under 200ms",
    ],
    isLate: true,
    spec: ({ metric, limit }, { page }) => measured(TIMED[metric](page), limit),
  }),
  cls: recorded("cls under {limit:decimal}", {
    topic: "quality",
    example: "cls under 0.1",
    also: ["(cumulative layout shift|layout shift|cls score) under {limit:decimal}"],
    isLate: true,
    spec: ({ limit }, { page }) =>
      measured(
        `(${entries(page, "layout-shift")} as (PerformanceEntry & { hadRecentInput: boolean; value: number })[]).reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0)`,
        limit,
      ),
  }),
  "page weight": recorded("page weight under {limit:size}", {
    topic: "quality",
    example: "page weight under 2 MB",
    also: [
      "(page size|total page weight|total page size|transfer size|weight of the page|the page weight) under {limit:size}",
    ],
    isLate: true,
    spec: ({ limit }, { page }) =>
      measured(
        `await ${page}.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, one) => sum + (one as PerformanceResourceTiming).transferSize, 0))`,
        limit,
        "toBeLessThanOrEqual",
      ),
  }),
  screenshot: recorded(
    "screenshot [of {target}] matches baseline {baseline} [within {tolerance:percent}] [masking {masks:targets}]",
    {
      topic: "a picture",
      example: "screenshot of main matches baseline 'home' within 1% masking .clock",
      examples: ["screenshot matches baseline 'home'"],
      also: [
        "screenshot [of {target}] matches {baseline} [within {tolerance:percent}] [masking {masks:targets}]",
      ],
      isLate: true,
      spec({ target, baseline, tolerance = TOLERANCE, masks = [] }, { page }) {
        const of = target === undefined ? page : printTarget(target, page);
        const masked = masks.map((mask) => printTarget(mask, page)).join(", ");
        const options = `maxDiffPixelRatio: ${tolerance}${masked === "" ? "" : `, mask: [${masked}]`}${target === undefined ? ", fullPage: true" : ""}`;
        return [`await expect(${of}).toHaveScreenshot(${js(`${baseline}.png`)}, { ${options} });`];
      },
    },
  ),
};

/** The share of pixels that may differ, unless a sentence says otherwise. */
export const TOLERANCE = 0.002;

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
