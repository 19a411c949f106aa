import { ONCE } from "../language/locator.ts";
import {
  type Assertion,
  expectationOf,
  isElementCheck,
  isLate,
  isRepeated,
  type RecordCheck,
} from "../language/sentences.ts";
import { printExpectation, type Spec } from "./print.ts";

/** Collectors, set up before the first page is opened, for the checks that need them. */
export const COLLECTORS = {
  consoleErrors: `const consoleErrors: string[] = [];
page.on("console", (message) => {
  if (message.type() === "error" && !message.location().url.includes("/favicon.ico")) consoleErrors.push(message.text());
});
page.on("pageerror", (error) => consoleErrors.push(error.message));`,
  pageErrors: `const pageErrors: string[] = [];
page.on("pageerror", (error) => pageErrors.push(error.message));`,
  failedRequests: `const failedRequests: string[] = [];
page.on("response", (answer) => {
  if (answer.status() >= 400 && !answer.url().includes("/favicon.ico")) failedRequests.push(answer.url());
});
page.on("requestfailed", (request) => {
  if (!/ERR_ABORTED/.test(request.failure()?.errorText ?? "")) failedRequests.push(request.url());
});`,
  status: `let status = 0;
page.on("response", (answer) => {
  const isOfPage = answer.request().isNavigationRequest() && answer.frame() === page.mainFrame();
  if (isOfPage && answer.status() !== 204) status = answer.status();
});`,
} as const;

/** Waits as a run does before it checks that something did not happen. */
export const SETTLED = 'await page.waitForLoadState("networkidle");';

/**
 * Assertions as lines of a spec: first those that wait; then, after it has settled once, those for which the page must
 * have settled.
 */
export function assertionLines(assertions: readonly Assertion[], spec: Spec): string[] {
  const early = assertions.filter(({ check }) => !isLate(check));
  const late = assertions.filter(({ check }) => isLate(check));
  const again = early.filter(isRepeated).map((assertion) => ({ ...assertion, within: ONCE }));
  const last = [...again, ...late].flatMap((assertion) => checkLines(assertion, spec));
  const isNeeded = last.some((line) => !line.startsWith("//"));
  return [
    ...early.flatMap((assertion) => checkLines(assertion, spec)),
    ...(isNeeded ? [SETTLED] : []),
    ...last,
  ];
}

export function checkLines({ check, within, text }: Assertion, spec: Spec): string[] {
  if (check.kind === "playwright" && within !== ONCE) return [`await ${check.line};`];
  if (isElementCheck(check)) {
    const plan = expectationOf(check);
    return [plan.inside ?? [], plan].flat().map((each) => printExpectation(each, within));
  }
  return [
    recordLine(check, spec.needs) ??
      `// Only pw_run_test checks this: ${text.replace(/\s+/g, " ")}`,
  ];
}

const LISTS: Readonly<Record<string, string>> = {
  "console errors": "consoleErrors",
  "page errors": "pageErrors",
  "failed requests": "failedRequests",
};

/** The line that checks what a spec has collected; undefined for what only a run records. */
function recordLine(check: RecordCheck, needs: Set<string>): string | undefined {
  const list = check.kind === "absence" ? LISTS[check.what] : undefined;
  if (list !== undefined) {
    needs.add(list);
    return `expect(${list}).toEqual([]);`;
  }
  if (check.kind !== "status") return undefined;
  needs.add("status");
  const { from, to } = check.range;
  if (from === to) return `await expect.poll(() => status).toBe(${from});`;
  return `await expect.poll(() => Math.floor(status / 100)).toBe(${from / 100});`;
}
