import { existsSync } from "node:fs";
import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Connected,
  type ConnectOptions,
  connectStdio,
  descendantsOf,
  isRunning,
} from "@refmcp/testing";
import { chromium } from "playwright";
import { describe, expect, it, onTestFinished } from "vitest";
import { rowsOf } from "../../../vitest.long.ts";
import { Deadline } from "../src/browser/deadline.ts";
import { explained } from "../src/browser/page/session.ts";
import { ensureBrowser } from "./browser.mjs";
import { project } from "./fixture.ts";
import { page, type Site } from "./lab.ts";
import { answerOf, folderOf, site } from "./session.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

async function start(args: string[], more: ConnectOptions = {}) {
  const { executablePath } = await ensureBrowser();
  const connected = await connectStdio(bin, {
    args: ["--executable-path", executablePath, ...args],
    ...more,
  });
  onTestFinished(() => connected.close().catch(() => undefined));
  const { pid } = connected;
  if (pid === undefined) throw new Error("it has no process");
  return { ...connected, pid };
}

const call = async ({ client }: Connected, name: string, args: Record<string, unknown>) =>
  answerOf(await client.callTool({ name, arguments: args }));
const run = (server: Connected, url: string, more: Record<string, unknown> = {}) =>
  call(server, "pw_run_test", { url, assertions: ["h1 is 'Good'"], timeout_ms: 80_000, ...more });

/** A server in the middle of a run, and the processes of its browser. */
async function busy() {
  const web = await site({ "*": page("<h1>Good</h1>") });
  const server = await start(["--output-dir", await folderOf("runs")]);
  return { server, web, ...(await middle(server, web)) };
}

/** The middle of a run. */
async function middle(server: Awaited<ReturnType<typeof start>>, { url, hits }: Site) {
  const path = `/${hits.length}`;
  const steps = ["wait for 60s"];
  const running = run(server, url + path, { steps }).then(({ text }) => text, String);
  await expect.poll(() => hits.includes(path)).toBe(true);
  const browser = descendantsOf(server.pid);
  expect(browser.some(({ command }) => command.includes("--type=renderer"))).toBe(true);
  return { running, browser };
}

/** Waits until none of the processes runs. */
const gone = (processes: readonly { readonly pid: number; readonly command: string }[]) =>
  expect.poll(() => processes.filter(({ pid }) => isRunning(pid))).toEqual([]);

describe.runIf(process.platform === "linux")("no process is left", () => {
  it.each(rowsOf(["SIGKILL", "SIGTERM", "SIGINT"] as const, 1))(
    "after %s in the middle of a run",
    async (signal) => {
      const { server, browser, running } = await busy();
      process.kill(server.pid, signal);
      await gone([...browser, { pid: server.pid, command: "the server" }]);
      await running;
    },
  );

  it("after the browser was killed; the run reports it and the next one works, until the client closes the connection", async () => {
    const { server, web, running, browser } = await busy();
    const main = browser.filter(({ command }) => command.includes("--remote-debugging-pipe"));
    for (const { pid, command } of main)
      if (!command.includes("--type=")) process.kill(pid, "SIGKILL");
    expect(await running).toMatch(/ended during the run|crashed/);
    const nextRun = await run(server, web.url);
    expect(nextRun.text).toMatch(/^All checks passed/);
    // With the process that drove it.
    await gone(browser);
    const last = await middle(server, web);
    await server.close();
    await gone([...last.browser, { pid: server.pid, command: "the server" }]);
    await last.running;
  });

  it("a page that ends with its browser is not said to have closed itself", async () => {
    const mark = `--mark-${process.pid}`;
    const { executablePath } = await ensureBrowser();
    const args = [mark, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
    const browser = await chromium.launch({ executablePath, args });
    const context = await browser.newContext();
    const page = await context.newPage();
    const deadline = new Deadline(60_000, new AbortController().signal);
    const ended = new Promise((resolve) => {
      page.on("close", () => resolve(explained(Error(), { opened: { context }, page, deadline })));
    });
    const [main] = descendantsOf(process.pid).filter(({ command }) => command.includes(mark));
    process.kill(main?.pid ?? 0, "SIGKILL");
    expect(await ended).toMatchObject({ message: "The browser ended during the run." });
    deadline.end();
  });

  it("of the user's specs, after the server ended in the middle of them", async () => {
    const home = await project(await folderOf("specs"), {
      "playwright.config.js": "export default {};\n",
      "slow.spec.js": `import { writeFileSync } from "node:fs";
import { test } from "playwright/test";
test("never ends", async () => {
  test.setTimeout(0);
  writeFileSync("pid.txt", String(process.pid));
  await new Promise(() => {});
});
`,
    });
    const server = await start(["--project", home, "--output-dir", await folderOf("runs")]);
    const running = server.client
      .callTool({ name: "pw_run_specs", arguments: {} })
      .catch(() => undefined);
    const mark = join(home, "pid.txt");
    await expect.poll(() => existsSync(mark)).toBe(true);
    const processes = descendantsOf(server.pid);
    expect(processes.map(({ pid }) => pid)).toContain(Number(await readFile(mark, "utf8")));
    process.kill(server.pid, "SIGTERM");
    await gone([...processes, { pid: server.pid, command: "the server" }]);
    await running;
  });
});

it.runIf(process.platform === "linux")(
  "a HOME in which no folder can be created: artifacts are kept in a temporary folder",
  async () => {
    const [home, temporary] = [await folderOf("home"), await folderOf("tmp")];
    await chmod(home, 0);
    // Root may do anything until it gives up its capabilities.
    const unprivileged = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", process.execPath];
    const isRoot = process.getuid?.() === 0;
    const server = await start(isRoot ? ["--no-sandbox"] : [], {
      env: { HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: "" },
      ...(isRoot ? { node: unprivileged } : {}),
    });
    const { url } = await site({ "/": page("<h1>Good</h1>") });
    const { data, text, links } = await run(server, url);
    expect(data, text).toMatchObject({ passed: true });
    const [note = ""] = Object(data).notes ?? [];
    const cache = join(home, ".cache/refmcp/playwright/runs");
    expect(note).toContain(`since ${cache} cannot be written (`);
    expect(note).toContain("--output-dir chooses another folder");
    const picture = await call(server, "pw_view_artifact", { run_id: data.run_id });
    expect(Buffer.from(picture.images[0]?.data ?? "", "base64")).toEqual(
      await readFile(fileURLToPath(links[0]?.uri ?? "")),
    );
    // Only this user can read them.
    const folder = (await readdir(temporary)).find((name) => name.startsWith("refmcp-")) ?? "";
    expect((await stat(join(temporary, folder))).mode & 0o077).toBe(0);
  },
);
