import type { Action, FillValue } from "./ast.ts";
import { acting, js, locator } from "./export-words.ts";

/** An action as lines of a spec. */
export function actionLines(action: Exclude<Action, { kind: "expect" | "wait for" }>): string[] {
  switch (action.kind) {
    case "goto":
      return [
        /^https?:/i.test(action.url)
          ? `await page.goto(${js(action.url)});`
          : `await page.goto(new URL(${js(action.url)}, page.url()).href);`,
      ];
    case "click": {
      const options = action.button === "right" ? `{ button: "right" }` : "";
      return [`await ${acting(action.target)}.${action.count === 2 ? "dblclick" : "click"}(${options});`];
    }
    case "fill":
      return [`await ${acting(action.target, true)}.fill(${value(action.value)});`];
    case "type":
      return [`await page.keyboard.insertText(${value(action.value)});`];
    case "press":
      return action.target === undefined
        ? [`await page.keyboard.press(${js(action.key)});`]
        : [`await ${acting(action.target, true)}.press(${js(action.key)});`];
    case "check":
      return [`await ${acting(action.target, true)}.setChecked(${action.checked});`];
    case "select":
      return [`await ${acting(action.target, true)}.selectOption(${list(action.options)});`];
    case "upload":
      return [`await ${acting(action.target, true)}.setInputFiles(${list(action.files)});`];
    case "hover":
      return [`await ${acting(action.target)}.hover();`];
    case "focus":
    case "clear":
      return [`await ${acting(action.target, true)}.${action.kind}();`];
    case "wait":
      return [`await page.waitForTimeout(${action.milliseconds});`];
    case "wait for load":
      return [`await page.waitForLoadState(${js(action.state === "idle" ? "networkidle" : "load")});`];
    case "scroll":
      if (typeof action.to !== "string") return [`await ${acting(action.to)}.scrollIntoViewIfNeeded();`];
      return [
        action.to === "top"
          ? "await page.evaluate(() => window.scrollTo(0, 0));"
          : "await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));",
      ];
    case "drag":
      return [`await ${acting(action.from)}.dragTo(${acting(action.to)});`];
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
      const of = action.target === undefined ? "page" : locator(action.target);
      return [
        `await ${of}.screenshot({ path: test.info().outputPath(${js(`${action.name ?? "screenshot"}.png`.replace(/[^\w .-]/g, "-"))}) });`,
      ];
    }
  }
}

function value(fill: FillValue): string {
  return "text" in fill ? js(fill.text) : `process.env.PW_SECRET_${fill.secret} ?? ""`;
}

const list = (texts: readonly string[]) =>
  texts.length === 1 && texts[0] !== undefined ? js(texts[0]) : `[${texts.map(js).join(", ")}]`;
