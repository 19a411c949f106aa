import type { Action } from "../language/ast.ts";
import { actsOf, throttlingOf } from "../language/plan.ts";
import { type Spec, settledLines } from "./checks.ts";
import { js, printAct, printTarget } from "./print.ts";

/** Where a spec keeps a saved state: the folder that Playwright's documentation on authentication uses. */
export const statePath = (name: string): string => `playwright/.auth/${name}.json`;

/** An action as lines of a spec; tabs are in `export.ts`. */
export function actionLines(
  action: Exclude<Action, { kind: "expect" | "wait for" | "switch tab" | "close tab" }>,
  spec: Spec,
): string[] {
  const { page } = spec;
  switch (action.kind) {
    case "goto":
      return [
        /^https?:/i.test(action.url)
          ? `await ${page}.goto(${js(action.url)});`
          : `await ${page}.goto(new URL(${js(action.url)}, ${page}.url()).href);`,
      ];
    case "wait":
      return [`await ${page}.waitForTimeout(${action.milliseconds});`];
    case "wait for load":
      if (action.state === "load") return [`await ${page}.waitForLoadState("load");`];
      // Playwright advises against waiting for "networkidle"; the checks wait by themselves.
      return settledLines(spec);
    case "scroll":
      if (typeof action.to !== "string")
        return [`await ${printTarget(action.to, page)}.scrollIntoViewIfNeeded();`];
      return [
        action.to === "top"
          ? `await ${page}.evaluate(() => window.scrollTo(0, 0));`
          : `await ${page}.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));`,
      ];
    case "dialog": {
      const answer = action.accept
        ? `accept(${action.text === undefined ? "" : js(action.text)})`
        : "dismiss()";
      if (spec.needs.has("dialogs")) return [`answers.push((dialog) => dialog.${answer});`];
      return [`${page}.once("dialog", (dialog) => dialog.${answer});`];
    }
    case "history":
      return [`await ${page}.${action.direction === "back" ? "goBack" : "goForward"}();`];
    case "reload":
      return [`await ${page}.reload();`];
    case "viewport":
      return [`await ${page}.setViewportSize({ width: ${action.width}, height: ${action.height} });`];
    case "screenshot": {
      const of = action.target === undefined ? page : printTarget(action.target, page);
      const name = `${action.name ?? "screenshot"}.png`.replace(/[^\w .-]/g, "-");
      return [`await ${of}.screenshot({ path: test.info().outputPath(${js(name)}) });`];
    }
    case "throttle cpu":
    case "throttle network": {
      const { command, params } = throttlingOf(action);
      const session = `await ${page}.context().newCDPSession(${page})`;
      return [`await (${session}).send(${js(command)}, ${JSON.stringify(params)});`];
    }
    case "save state":
      return [`await ${page}.context().storageState({ path: ${js(statePath(action.name))} });`];
    case "use state":
      return [`await ${page}.context().setStorageState(${js(statePath(action.name))});`];
    case "time zone":
    case "locale":
      // In the spec's `test.use`.
      return [];
    default:
      return actsOf(action).map((act) => printAct(act, page));
  }
}
