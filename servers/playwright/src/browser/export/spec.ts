import { ToolError } from "@refmcp/boundary/answer";
import type { BrowserContextOptions } from "playwright";
import { parseTargetUrl, refusedUrl } from "../address.ts";
import type { Device } from "../devices.ts";
import { failure } from "../errors.ts";
import { parseScript } from "../language/parse.ts";
import {
  type Action,
  type Assertion,
  actsOf,
  type Step,
  setupLength,
} from "../language/sentences.ts";
import { assertionLines, COLLECTORS, checkLines, SETTLED } from "./checks.ts";
import { js, printAct, printAddress, printTarget, type Spec } from "./print.ts";

interface ExportRequest {
  readonly title: string;
  readonly url?: string | undefined;
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
  readonly device: Pick<Device, "descriptors" | "others"> | undefined;
}

/**
 * A spec for the real `playwright test` with the same steps and checks.
 *
 * @throws ToolError `invalid` for sentences that cannot be parsed, `denied` for a URL that no run may open.
 */
export function exportSpec(
  { title, url, steps, assertions, device }: ExportRequest,
  budget = Number.POSITIVE_INFINITY,
): string {
  if (url === undefined) throw failure("no_page", "Neither url nor run_id was given.");
  const parsed = parseTargetUrl(url);
  if (typeof parsed === "string") throw refusedUrl(url, parsed);
  const script = parseScript(steps, assertions);
  const needs: Spec["needs"] = new Set();
  const spec: Spec = { needs, url: parsed.href, base: parsed.origin };
  const setup = setupLength(script.steps);
  const [before, after] = [script.steps.slice(0, setup), script.steps.slice(setup)];
  const descriptors = device?.descriptors ?? [];
  const used = {
    baseURL: parsed.origin,
    // The run was in Chromium; a project of the configuration may choose another browser.
    ...(descriptors.length === 0 ? {} : { defaultBrowserType: "chromium" }),
    ...device?.others,
  };
  const body = [
    ...before.flatMap((step) => stepLines(step, spec)),
    `await page.goto(${printAddress(parsed.href, spec)});`,
    ...linesOf(after, script.assertions, spec),
  ];
  const collectors = Object.entries(COLLECTORS)
    .filter(([name]) => needs.has(name))
    .flatMap(([, lines]) => lines.split("\n"));
  const code = [
    `import { ${descriptors.length > 0 ? "devices, " : ""}expect, test } from "@playwright/test";`,
    "",
    ...useLines(descriptors, used),
    `test(${js(title)}, async ({ page }) => {`,
    ...[...collectors, ...body].map((line) => (line === "" ? "" : `  ${line}`)),
    "});",
    "",
  ].join("\n");
  if (code.length <= budget) return code;
  const size = `${code.length} characters; the limit is ${budget}`;
  throw new ToolError("too_large", `The spec has ${size}.`, {
    hint: "Export it as several tests with fewer steps and assertions each.",
  });
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

/** Steps and checks. Checks in a row are one group, for which the page settles once. */
function linesOf(steps: readonly Step[], assertions: readonly Assertion[], spec: Spec): string[] {
  const lines: string[] = [];
  const checks: Assertion[] = [];
  for (const [index, step] of steps.entries()) {
    // Both handlers would get the first dialog.
    if (isReply(step) && isReply(steps[index - 1]))
      throw new ToolError("invalid", "A spec cannot prepare two dialogs in a row.", {
        hint: "Put each such step before the step that opens its dialog.",
      });
    if (step.action.kind === "expect") {
      checks.push(step.action.assertion);
      continue;
    }
    lines.push(...assertionLines(checks.splice(0), spec), ...stepLines(step, spec));
  }
  return [...lines, ...assertionLines([...checks, ...assertions], spec)];
}

const isReply = (step: Step | undefined) => / dialog$/.test(step?.action.kind ?? "");

/** A step as lines of a spec. */
function stepLines({ action }: Step, spec: Spec): string[] {
  if (action.kind === "playwright") return [`await ${action.line};`];
  return actsOf(action)?.flatMap((act) => printAct(act).split("\n")) ?? ownLines(action, spec);
}

/** The lines of a step that is not one call. */
function ownLines(action: Action, spec: Spec): string[] {
  const origin = js(new URL(spec.url).origin);
  switch (action.kind) {
    case "goto":
      return [`await page.goto(${printAddress(action.url, spec)});`];
    case "back":
      return [`await page.goBack();`];
    case "scroll":
      return [
        `await page.evaluate(() => window.scrollTo(0, ${action.edge === "top" ? "0" : "document.documentElement.scrollHeight"}));`,
      ];
    case "wait":
      return [`await page.waitForTimeout(${action.duration});`];
    case "wait for idle":
      return [SETTLED];
    case "wait for":
      return checkLines(action.assertion, spec);
    case "accept dialog":
      return [
        `page.once("dialog", (dialog) => dialog.accept(${action.text === undefined ? "" : js(action.text)}));`,
      ];
    case "dismiss dialog":
      return [`page.once("dialog", (dialog) => dialog.dismiss());`];
    case "har":
      return [`await page.context().routeFromHAR(${js(action.file)}, { notFound: "fallback" });`];
    case "cookie":
      return [
        `await page.context().addCookies([{ name: ${js(action.name)}, value: ${js(action.value)}, url: ${origin} }]);`,
      ];
    case "screenshot": {
      const { name = "screenshot", target } = action;
      const of = target === undefined ? "page" : printTarget(target);
      const file = `${name}.png`.replace(/[^\w .-]/g, "-");
      return [`await ${of}.screenshot({ path: test.info().outputPath(${js(file)}) });`];
    }
    default:
      throw new ToolError("invalid", `A spec cannot have the step ${action.kind}.`, {
        hint: "Export the steps before it, and write what follows in the spec.",
      });
  }
}
