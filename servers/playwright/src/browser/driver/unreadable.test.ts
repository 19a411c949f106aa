import { expect, it } from "vitest";
import { ensureBrowser } from "../../../test/browser.mjs";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { browserType } from "./launch.ts";

it("a reply about a disposed object fails its call, and does not end the process", async () => {
  const { executablePath } = await ensureBrowser();
  const web = await site({ "*": page("<h1>Good</h1>") });
  const browser = await browserType("chromium").launch({ executablePath, args: ["--no-sandbox"] });
  const tab = await browser.newPage();
  const connection = Reflect.get(tab, "_connection");
  const dispatch: (message: { result?: { response?: unknown } }) => void = connection.dispatch;
  // What Playwright sends if the page's context closes at the same moment.
  connection.dispatch = (message: { result?: { response?: unknown } }) =>
    dispatch(
      message.result?.response
        ? { ...message, result: { response: { guid: "response@gone" } } }
        : message,
    );
  try {
    await expect(tab.goto(web.url)).rejects.toThrow("was not bound in the connection");
    connection.dispatch({ guid: "page@gone", method: "close", params: {} });
    expect(() =>
      connection.dispatch({ guid: "", method: "__adopt__", params: { guid: "gone" } }),
    ).toThrow();
  } finally {
    connection.dispatch = dispatch;
    await browser.close();
  }
});
