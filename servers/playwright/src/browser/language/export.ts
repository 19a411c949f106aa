import { ToolError } from "@refmcp/core/answer";
import type { BrowserContextOptions } from "playwright";
import { parseTargetUrl } from "../address.ts";
import { refusedUrl } from "../refusal.ts";
import type { Assertion, Step } from "./ast.ts";
import { assertionLines, type Needs } from "./export-checks.ts";
import { actionLines } from "./export-steps.ts";
import { isLate } from "./plan.ts";
import { js } from "./print.ts";
import { parseScript } from "./script.ts";

export interface ExportRequest {
  readonly title: string;
  readonly url: string;
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
  /** The context's options of a device. */
  readonly use: BrowserContextOptions | undefined;
}

/** Collectors that stand before the first page is opened, where a check needs what they collect. */
const COLLECTORS: Readonly<Record<Exclude<Needs, "axe" | "settled">, readonly string[]>> = {
  consoleErrors: [
    "const consoleErrors: string[] = [];",
    'page.on("console", (message) => {',
    '  if (message.type() === "error" && !message.location().url.includes("/favicon.ico")) consoleErrors.push(message.text());',
    "});",
  ],
  consoleWarnings: [
    "const consoleWarnings: string[] = [];",
    'page.on("console", (message) => {',
    '  if (message.type() === "warning") consoleWarnings.push(message.text());',
    "});",
  ],
  consoleLines: [
    "const consoleLines: string[] = [];",
    'page.on("console", (message) => consoleLines.push(message.text()));',
  ],
  pageErrors: [
    "const pageErrors: string[] = [];",
    'page.on("pageerror", (error) => pageErrors.push(error.message));',
  ],
  failedRequests: [
    "const failedRequests: string[] = [];",
    'page.on("response", (answer) => {',
    '  if (answer.status() >= 400 && !answer.url().includes("/favicon.ico")) failedRequests.push(answer.url());',
    "});",
    'page.on("requestfailed", (request) => {',
    '  if (!/ERR_ABORTED/.test(request.failure()?.errorText ?? "")) failedRequests.push(request.url());',
    "});",
  ],
  requests: [
    "const requests: { url: string; status: number }[] = [];",
    'page.on("response", (answer) => requests.push({ url: answer.url(), status: answer.status() }));',
    'page.on("requestfailed", (request) => requests.push({ url: request.url(), status: 0 }));',
  ],
  status: [
    "let status = 0;",
    'page.on("response", (answer) => {',
    "  if (answer.request().isNavigationRequest() && answer.frame() === page.mainFrame()) status = answer.status();",
    "});",
  ],
};

/** Before a check that something did not happen. Two timers of the page: a thread that is busy delays both. */
const SETTLED = [
  "/** Lets the page's own timers run before checking that something did not happen. */",
  "async function settled(page: Page) {",
  '  await page.waitForLoadState("load");',
  "  await page.evaluate(() => new Promise((done) => setTimeout(() => setTimeout(done, 100), 200)));",
  "}",
  "",
];

/**
 * A spec for the real `playwright test` that does the same steps and checks the same.
 *
 * @throws ToolError `invalid` for sentences that cannot be read, `denied` for a URL that no run goes to.
 */
export function exportSpec(
  { title, url, steps, assertions, use }: ExportRequest,
  budget = Number.POSITIVE_INFINITY,
): string {
  const parsed = parseTargetUrl(url);
  if (typeof parsed === "string") throw refusedUrl(url, parsed);
  const script = parseScript(steps, assertions);
  const needs = new Set<Needs>();
  const body = [
    `await page.goto(${js(parsed.href)});`,
    ...script.steps.flatMap((step) => stepLines(step, needs)),
    ...ordered(script.assertions).flatMap((assertion) => assertionLines(assertion, needs)),
  ];
  const before = [...needs]
    .sort()
    .flatMap((need) => (need === "axe" || need === "settled" ? [] : COLLECTORS[need]));
  const code = [
    `import { expect, ${needs.has("settled") ? "type Page, " : ""}test } from "@playwright/test";`,
    ...(needs.has("axe") ? ["// npm install -D axe-core", 'import axe from "axe-core";'] : []),
    "",
    ...(needs.has("settled") ? SETTLED : []),
    ...(use === undefined ? [] : [`test.use(${JSON.stringify(testOptions(use))});`, ""]),
    `test(${js(title)}, async ({ page }) => {`,
    ...[...before, ...body].map((line) => (line === "" ? "" : `  ${line}`)),
    "});",
    "",
  ].join("\n");
  if (code.length <= budget) return code;
  throw new ToolError(
    "too_large",
    `The spec has ${code.length} characters; at most ${budget} are answered.`,
    {
      hint: "Export it as several tests with fewer steps and assertions each.",
    },
  );
}

/** Options as `test.use` takes them: these two are options of the context only. */
function testOptions({ reducedMotion, forcedColors, ...use }: BrowserContextOptions): object {
  const contextOptions = {
    ...(reducedMotion === undefined ? {} : { reducedMotion }),
    ...(forcedColors === undefined ? {} : { forcedColors }),
  };
  return Object.keys(contextOptions).length === 0 ? use : { ...use, contextOptions };
}

function stepLines(step: Step, needs: Set<Needs>): string[] {
  const { action } = step;
  if (action.kind === "expect" || action.kind === "wait for") return assertionLines(action.assertion, needs);
  return actionLines(action);
}

/** Those that wait first, then, when the network is quiet, those that look once. */
function ordered(assertions: readonly Assertion[]): Assertion[] {
  const [waiting, late] = [false, true].map((wanted) =>
    assertions.filter(({ check }) => isLate(check) === wanted),
  );
  return [...(waiting ?? []), ...(late ?? [])];
}
