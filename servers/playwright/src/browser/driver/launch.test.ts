import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { ensureBrowser } from "../../../test/browser.mjs";
import { page } from "../../../test/lab.ts";
import { folderOf, site } from "../../../test/session.ts";
import { launchOptions, makeTester } from "../../../test/testers.ts";
import { launch } from "./launch.ts";

const failed = (options: Parameters<typeof launchOptions>[0]) => launch(launchOptions(options));

it("if no browser starts, the error has the reason of each that was tried, and the command that installs one", async () => {
  const path = join(await folderOf("broken"), "chrome");
  await writeFile(path, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  await expect(failed({ executablePath: path })).rejects.toMatchObject({
    ...{ kind: "unavailable", code: "no_browser" },
    message: expect.stringContaining(`No browser starts on this machine. Tried:\n${path}: `),
    hint: expect.stringContaining("npx playwright install --with-deps chromium-headless-shell"),
  });
});

it.each(["cdpEndpoint", "wsEndpoint"] as const)(
  "if no browser starts, the token in %s is not shown",
  async (which) => {
    const scheme = which === "cdpEndpoint" ? "http" : "ws";
    const running = failed({ [which]: `${scheme}://127.0.0.1:1/?token=t0ken` });
    const { message, hint, code } = await running.catch((thrown) => thrown);
    expect(code).toBe("no_browser");
    expect(`${message} ${hint}`).not.toContain("t0ken");
  },
);

it("a remote browser is used by --cdp-endpoint, and left running", async () => {
  const profile = await folderOf("profile");
  const { executablePath } = await ensureBrowser();
  const args = ["--headless", "--no-sandbox", "--remote-debugging-port=0", "about:blank"];
  const child = spawn(executablePath, [`--user-data-dir=${profile}`, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let endpoint: string | undefined;
  for await (const line of createInterface({ input: child.stderr })) {
    endpoint = /DevTools listening on ws:\/\/([^/]+)/.exec(line)?.[1];
    if (endpoint !== undefined) break;
  }
  const cdpEndpoint = `http://${endpoint}`;
  const tester = makeTester({ launch: () => launch(launchOptions({ cdpEndpoint })) });
  const { url } = await site({ "*": page("<h1>Good</h1>") });
  expect((await tester.run({ url, assertions: ["h1 is 'Good'"] })).passed).toBe(true);
  await tester.close();
  expect((await fetch(`${cdpEndpoint}/json/version`)).status).toBe(200);
});
