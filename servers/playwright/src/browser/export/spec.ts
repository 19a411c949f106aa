import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { BrowserContextOptions } from "playwright";
import { parseTargetUrl, refusedUrl } from "../language/address.ts";
import type { Assertion, Step } from "../language/ast.ts";
import type { Needs, Spec } from "../language/rows.ts";
import { checksOf, contextOptionsOf, parseScript, rowOf, setupLength } from "../language/script.ts";
import type { Device } from "../session/devices.ts";
import { assertionLines } from "./checks.ts";
import { js, printAct, printAddress } from "./print.ts";

export interface ExportRequest {
  readonly title: string;
  readonly url?: string | undefined;
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
  readonly device: Pick<Device, "descriptors" | "others"> | undefined;
  /** How many of the steps come before the page is opened; by default the setup steps at the beginning. */
  readonly setup?: number;
  /** What a session did that is not in the spec. */
  readonly leftOut?: readonly string[];
}

/** Maximum sentences of a spec: those of a session's calls together. */
const MAX_SENTENCES = 1_000;

/** Collectors, set up before the first page is opened, for the checks that need them. */
const COLLECTORS: Readonly<Record<Exclude<Needs, "axe">, string>> = {
  dialogs: `const dialogs: string[] = [];
const answers: ((dialog: Dialog) => Promise<void>)[] = [];
page.on("dialog", async (dialog) => {
  dialogs.push(dialog.message());
  const answer = answers.shift() ?? ((one: Dialog) => one.dismiss());
  await answer(dialog);
});`,
  downloads: `const downloads: string[] = [];
page.on("download", async (download) => {
  if ((await download.failure()) === null) downloads.push(download.suggestedFilename());
});`,
  exchanges: `const exchanges: { url: string; method: string; body: string }[] = [];
page.on("response", async (answer) => {
  const body = await answer.text().catch(() => "");
  exchanges.push({ url: answer.url(), method: answer.request().method(), body });
});`,
  consoleErrors: `const consoleErrors: string[] = [];
page.on("console", (message) => {
  if (message.type() === "error" && !message.location().url.includes("/favicon.ico")) consoleErrors.push(message.text());
});
page.on("pageerror", (error) => consoleErrors.push(error.message));`,
  consoleWarnings: `const consoleWarnings: string[] = [];
page.on("console", (message) => {
  if (message.type() === "warning") consoleWarnings.push(message.text());
});`,
  consoleLines: `const consoleLines: string[] = [];
page.on("console", (message) => consoleLines.push(message.text()));`,
  pageErrors: `const pageErrors: string[] = [];
page.on("pageerror", (error) => pageErrors.push(error.message));`,
  failedRequests: `const failedRequests: string[] = [];
page.on("response", (answer) => {
  if (answer.status() >= 400 && !answer.url().includes("/favicon.ico")) failedRequests.push(answer.url());
});
page.on("requestfailed", (request) => {
  if (!/ERR_ABORTED/.test(request.failure()?.errorText ?? "")) failedRequests.push(request.url());
});`,
  requests: `const requests: { url: string; method: string; body: string; status: number; headers: Record<string, string> }[] = [];
const noted = (request: Request, status: number, headers = {}) =>
  requests.push({ url: request.url(), method: request.method(), body: request.postData() ?? "", status, headers });
page.on("response", (answer) => noted(answer.request(), answer.status(), answer.headers()));
page.on("requestfailed", (request) => noted(request, 0));`,
  settled: `const open = new Set<Request>();
page.on("request", (request) => open.add(request));
page.on("requestfinished", (request) => open.delete(request));
page.on("requestfailed", (request) => open.delete(request));`,
  status: `let status = 0;
page.on("response", (answer) => {
  if (answer.request().isNavigationRequest() && answer.frame() === page.mainFrame()) status = answer.status();
});`,
};

/** Used before checks that something did not happen. A busy thread delays both of the page's timers. */
const SETTLED = `/** Waits for requests and the page's own timers before checking that something did not happen. */
async function settled(page: Page, open: ReadonlySet<Request>) {
  await page.waitForLoadState("load");
  const requests = () => [...open].filter((one) => one.resourceType() !== "eventsource").length;
  // One that stays open, such as a long poll, is not waited for.
  await expect.poll(requests, { timeout: 5_000 }).toBe(0).catch(() => undefined);
  await page.evaluate(() => new Promise((done) => setTimeout(() => setTimeout(done, 100), 200)));
}
`;

/**
 * A spec for the real `playwright test` with the same steps and checks.
 *
 * @throws ToolError `invalid` for sentences that cannot be parsed, `denied` for a URL that no run may open.
 */
export function exportSpec(
  { title, url, steps, assertions, device, leftOut = [], ...given }: ExportRequest,
  budget = Number.POSITIVE_INFINITY,
): string {
  if (url === undefined)
    throw new ToolError("invalid", "None of url, run_id and session was given.", {
      hint: "Pass one of them.",
    });
  const parsed = parseTargetUrl(url);
  if (typeof parsed === "string") throw refusedUrl(url, parsed);
  const script = parseScript(steps, assertions, MAX_SENTENCES);
  // It changes how steps are written, so it is needed before the first one.
  const checksDialogs = checksOf(script).some(({ kind }) => kind === "dialog message");
  const needed: Spec["needs"] = new Set(checksDialogs ? ["dialogs"] : []);
  const spec: Spec = { needs: needed, page: "page", url: parsed.href, base: parsed.origin };
  const { needs } = spec;
  const { setup = setupLength(script.steps) } = given;
  const [before, after] = [script.steps.slice(0, setup), script.steps.slice(setup)];
  const descriptors = device?.descriptors ?? [];
  const used = {
    baseURL: parsed.origin,
    // The run was in Chromium; a project of the configuration may choose another browser.
    ...(descriptors.length === 0 ? {} : { defaultBrowserType: "chromium" }),
    ...device?.others,
    ...contextOptionsOf(script.steps),
  };
  const body = [
    ...before.flatMap((step) => stepLines(step, spec)),
    ...linesOf(
      [`await page.goto(${printAddress(parsed.href, spec)});`],
      after,
      script.assertions,
      spec,
    ),
  ];
  // Only the context sees what other tabs do.
  const isTabbed = script.steps.some(({ action }) => action.kind.startsWith("switch to"));
  const collectors = [...needs]
    .sort()
    .flatMap((need) => (need === "axe" ? [] : COLLECTORS[need].split("\n")))
    .map((line) =>
      isTabbed ? line.replace(/^page\.on\("(?!pageerror)/, 'page.context().on("') : line,
    );
  const isSettled = needs.has("settled");
  const request = needs.has("requests") || isSettled ? "type Request, " : "";
  const types = `${needs.has("dialogs") ? "type Dialog, " : ""}${isSettled ? "type Page, " : ""}${request}`;
  const code = [
    `import { ${descriptors.length > 0 ? "devices, " : ""}expect, ${types}test } from "@playwright/test";`,
    ...(needs.has("axe") ? ["// npm install -D axe-core", 'import axe from "axe-core";'] : []),
    "",
    ...(isSettled ? [SETTLED] : []),
    ...useLines(descriptors, used),
    ...leftOut.slice(0, 20).map((one) => `// Left out: ${clip(oneLine(one), 200)}`),
    `test(${js(title)}, async ({ page }) => {`,
    ...[...collectors, ...body].map((line) => (line === "" ? "" : `  ${line}`)),
    "});",
    "",
  ].join("\n");
  if (code.length <= budget) return code;
  throw new ToolError(
    "too_large",
    `The spec has ${code.length} characters; the limit is ${budget}.`,
    {
      hint: "Export it as several tests with fewer steps and assertions each.",
    },
  );
}

/** The spec's options; these two are options of the context only. */
function useLines(
  descriptors: readonly string[],
  { reducedMotion, forcedColors, ...use }: BrowserContextOptions,
): string[] {
  const isOnContext = reducedMotion !== undefined || forcedColors !== undefined;
  const options = {
    ...use,
    ...(isOnContext ? { contextOptions: { reducedMotion, forcedColors } } : {}),
  };
  const all = [
    ...descriptors.map((name) => `...devices[${js(name)}]`),
    ...Object.entries(options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ];
  return all.length === 0 ? [] : [`test.use({ ${all.join(", ")} });`, ""];
}

/**
 * Steps with the tabs that they open, and the checks. Waiting for a tab starts before the step that opens it, as
 * Playwright advises. Checks in a row are one group, for which the page settles once.
 */
function linesOf(
  first: readonly string[],
  steps: readonly Step[],
  assertions: readonly Assertion[],
  spec: Spec,
): string[] {
  let opener = [...first];
  const blocks = [opener];
  const checks: Assertion[] = [];
  const check = () => void blocks.push(assertionLines(checks.splice(0), spec));
  const tabs = [spec.page];
  const open = [spec.page];
  for (const step of steps) {
    const { action } = step;
    if (action.kind === "expect") {
      checks.push(action.assertion);
      continue;
    }
    check();
    if (action.kind === "close tab") {
      blocks.push([`await ${spec.page}.close();`]);
      open.splice(open.indexOf(spec.page), 1);
      spec.page = open.at(-1) ?? "page";
    } else if (action.kind === "switch to new tab" || action.kind === "switch to tab") {
      const known = action.kind === "switch to tab" ? tabs[action.position - 1] : undefined;
      if (known !== undefined) {
        spec.page = known;
        blocks.push([`await ${known}.bringToFront();`]);
        continue;
      }
      const name = `tab${tabs.length + 1}`;
      opener.unshift(`const ${name}Opened = ${spec.page}.waitForEvent("popup");`);
      blocks.push([`const ${name} = await ${name}Opened;`]);
      tabs.push(name);
      open.push(name);
      spec.page = name;
    } else {
      opener = stepLines(step, spec);
      blocks.push(opener);
    }
  }
  checks.push(...assertions);
  check();
  return blocks.flat();
}

/** A step as lines of a spec. */
function stepLines({ action }: Step, spec: Spec): string[] {
  const row = rowOf(action);
  return (
    row.spec?.(action, spec) ??
    (row.acts?.(action) ?? []).flatMap((one) => printAct(one, spec.page).split("\n"))
  );
}
