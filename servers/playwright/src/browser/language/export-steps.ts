import type { Action } from "./ast.ts";
import { actOf } from "./plan.ts";
import { js, printAct, printTarget } from "./print.ts";

/** An action as lines of a spec. */
export function actionLines(action: Exclude<Action, { kind: "expect" | "wait for" }>): string[] {
  switch (action.kind) {
    case "goto":
      return [
        /^https?:/i.test(action.url)
          ? `await page.goto(${js(action.url)});`
          : `await page.goto(new URL(${js(action.url)}, page.url()).href);`,
      ];
    case "wait":
      return [`await page.waitForTimeout(${action.milliseconds});`];
    case "wait for load":
      return [`await page.waitForLoadState(${js(action.state === "idle" ? "networkidle" : "load")});`];
    case "scroll":
      if (typeof action.to !== "string") return [`await ${printTarget(action.to)}.scrollIntoViewIfNeeded();`];
      return [
        action.to === "top"
          ? "await page.evaluate(() => window.scrollTo(0, 0));"
          : "await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));",
      ];
    case "dialog": {
      const answer = action.accept
        ? `accept(${action.text === undefined ? "" : js(action.text)})`
        : "dismiss()";
      return [`page.once("dialog", (dialog) => dialog.${answer});`];
    }
    case "history":
      return [action.direction === "back" ? "await page.goBack();" : "await page.goForward();"];
    case "reload":
      return ["await page.reload();"];
    case "viewport":
      return [`await page.setViewportSize({ width: ${action.width}, height: ${action.height} });`];
    case "screenshot": {
      const of = action.target === undefined ? "page" : printTarget(action.target);
      const name = `${action.name ?? "screenshot"}.png`.replace(/[^\w .-]/g, "-");
      return [`await ${of}.screenshot({ path: test.info().outputPath(${js(name)}) });`];
    }
    default:
      return [printAct(actOf(action))];
  }
}
