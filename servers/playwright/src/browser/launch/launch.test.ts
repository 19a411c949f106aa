import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { candidatesOf } from "@refmcp/core/browser";
import { chromium } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureBrowser } from "../../../test/browser.mjs";
import { openGuard, page, type Site } from "../../../test/lab.ts";
import { descendantsOf } from "../../../test/processes.ts";
import { folderOf, site } from "../../../test/session.ts";
import { CALL, launchOptions, makeDrivers, makeTester, requestOf } from "../../../test/testers.ts";
import type { Drivers } from "../driver/drivers.ts";
import { killed } from "../driver/memory.ts";
import { HEAP_MB } from "../driver/process.ts";
import { Contexts } from "../run/context.ts";
import { devicesOf } from "../run/devices.ts";
import { launch } from "./launch.ts";
import { playwright } from "./library.ts";

/** In the command of a driver's process. */
const OF_A_DRIVER = `--max-old-space-size=${HEAP_MB}`;
let browser: Awaited<ReturnType<typeof ensureBrowser>>;
let web: Site;
beforeAll(async () => {
  browser = await ensureBrowser();
  web = await site({ "*": page("<h1>Good</h1>") });
});

describe("a browser is found", () => {
  it("in Playwright's registry: the newest headless shell first, whatever its revision", async () => {
    const registry = await folderOf("registry");
    for (const name of [
      "chromium-1300/chrome-linux/chrome",
      "chromium_headless_shell-999/chrome-linux/headless_shell",
      "chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell",
      "firefox-1/firefox/firefox",
    ]) {
      const path = join(registry, name);
      await mkdir(join(path, ".."), { recursive: true });
      if (name.includes("1200")) await symlink(browser.executablePath, path);
      else await writeFile(path, "no program", { mode: 0o755 });
    }
    const env = { ...process.env, PLAYWRIGHT_BROWSERS_PATH: registry };
    const found = await candidatesOf({ executablePath: undefined, env, platform: "linux" });
    expect(found.slice(0, 3).map(({ place }) => place.slice(registry.length + 1))).toEqual([
      "chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell",
      "chromium_headless_shell-999/chrome-linux/headless_shell",
      "chromium-1300/chrome-linux/chrome",
    ]);
    expect(found.slice(3).map(({ place }) => place)).toContain("/usr/bin/chromium");
    const launched = await launch(launchOptions({ env }));
    expect(launched.from).toBe(found[0]?.place);
    expect(launched.sandboxed).toBe(process.getuid?.() !== 0);
    await launched.browser.close();
  });

  it("behind one that does not start", async () => {
    const folder = await folderOf("broken");
    const broken = join(folder, "chrome");
    await writeFile(broken, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const at = (executablePath: string) => ({
      program: { executablePath },
      place: executablePath,
      required: false,
    });
    const launched = await launch(launchOptions(), async () => [
      at(join(folder, "none")),
      at(broken),
      at(browser.executablePath),
    ]);
    expect(launched.from).toBe(browser.executablePath);
    await launched.browser.close();
  });
});

describe("if there is none", () => {
  it("one error lists every location tried, and one command", async () => {
    const places = ["/nowhere/chrome", "/nowhere/chromium"];
    const failed = launch(launchOptions(), async () =>
      places.map((executablePath) => ({
        program: { executablePath },
        place: executablePath,
        required: false,
      })),
    );
    await expect(failed).rejects.toMatchObject({
      kind: "unavailable",
      code: "no_browser",
      message: `There is no browser on this machine. Tried:\n${places.map((place) => `${place}: not there`).join("\n")}`,
      hint: expect.stringContaining("npx playwright install --with-deps chromium-headless-shell"),
    });
  });

  it.each(["firefox", "webkit"] as const)("%s is Playwright's, and one command installs it", async (name) => {
    const build = playwright()[name].executablePath();
    await expect(launch(launchOptions({ browser: name }))).rejects.toMatchObject({
      kind: "unavailable",
      code: "no_browser",
      message: expect.stringContaining(`${build}: not there`),
      hint: expect.stringContaining(`npx playwright install --with-deps ${name}`),
    });
    await expect(
      launch(launchOptions({ browser: name, executablePath: "/nowhere/it" })),
    ).rejects.toMatchObject({
      message: "The browser at --executable-path /nowhere/it does not start: not there.",
    });
    await expect(
      launch(launchOptions({ browser: name, cdpEndpoint: "http://127.0.0.1:1" })),
    ).rejects.toMatchObject({
      message: `--cdp-endpoint is for Chromium, and --browser is ${name}.`,
    });
  });

  it.each([
    ["--executable-path", { executablePath: "/nowhere/chrome" }],
    [
      "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH",
      { env: { PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH: "/nowhere/chrome" } },
    ],
  ])("one specified with %s is an error, and no other is tried", async (said, given) => {
    await expect(launch(launchOptions(given))).rejects.toMatchObject({
      code: "no_browser",
      message: `The browser at ${said} /nowhere/chrome does not start: not there.`,
    });
  });

  it.each(["cdpEndpoint", "wsEndpoint"] as const)("the token in %s is not shown", async (which) => {
    const scheme = which === "cdpEndpoint" ? "http" : "ws";
    const error: unknown = await launch(
      launchOptions({ [which]: `${scheme}://127.0.0.1:1/?token=t0ken` }),
    ).catch((thrown: unknown) => thrown);
    const { message, hint, code } = Object(error);
    expect(code).toBe("no_browser");
    expect(`${message} ${hint}`).not.toContain("t0ken");
  });
});

describe("a remote browser", () => {
  let child: ChildProcess | undefined;
  afterAll(async () => {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });

  it("is used by --cdp-endpoint, and left running", async () => {
    const profile = await folderOf("profile");
    child = spawn(
      browser.executablePath,
      [
        "--headless",
        "--no-sandbox",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    if (child.stderr === null) throw new Error("no stderr");
    let endpoint: string | undefined;
    for await (const line of createInterface({ input: child.stderr })) {
      endpoint = /DevTools listening on ws:\/\/([^/]+)/.exec(line)?.[1];
      if (endpoint !== undefined) break;
    }
    const cdpEndpoint = `http://${endpoint}`;
    const tester = await makeTester({ launch: () => launch(launchOptions({ cdpEndpoint })) });
    expect((await tester.run({ url: web.url, assertions: ["h1 is 'Good'"] })).passed).toBe(true);
    await tester.close();
    expect((await fetch(`${cdpEndpoint}/json/version`)).status).toBe(200);
  });

  it("is used by --ws-endpoint, and left running", async () => {
    const server = await chromium.launchServer({
      executablePath: browser.executablePath,
      env: Object.fromEntries(Object.entries(process.env).map(([k, v]) => [k, v ?? ""])),
    });
    try {
      const wsEndpoint = server.wsEndpoint();
      const tester = await makeTester({ launch: () => launch(launchOptions({ wsEndpoint })) });
      expect((await tester.run({ url: web.url, assertions: ["h1 is 'Good'"] })).passed).toBe(true);
      await tester.close();
      const again = await chromium.connect(wsEndpoint);
      await again.close();
    } finally {
      await server.close();
    }
  });
});

describe("one browser", () => {
  const url = () => ({ url: web.url, assertions: ["h1 is 'Good'"] });
  const open: Drivers[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((drivers) => drivers.close()));
  });
  /** Drivers, and how many browsers they started. */
  const counted = async (limits: Parameters<typeof makeDrivers>[0]) => {
    const started: string[] = [];
    const drivers = await makeDrivers(limits, (line) => {
      if (/ready in \d+ ms/.test(line)) started.push(line);
    });
    open.push(drivers);
    const run = () => drivers.run(requestOf(url()), CALL);
    return { drivers, started, run };
  };

  it("is started ahead of time, and serves all runs", async () => {
    const { drivers, started, run } = await counted({});
    drivers.prewarm();
    await Promise.all([run(), run(), run()]);
    await run();
    expect(started).toHaveLength(1);
  });

  it("is replaced after a number of runs, without a failed run", async () => {
    const { started, run } = await counted({ calls: 2 });
    for (let n = 0; n < 5; n++) expect((await run()).passed).toBe(true);
    expect(started).toHaveLength(3);
  });

  it("is replaced after the questions that its driver still has", async () => {
    const { drivers, run } = await counted({ calls: 1 });
    let isRunning = true;
    const running = run().finally(() => {
      isRunning = false;
    });
    const ask = async () => {
      while (isRunning) expect(await drivers.devices([])).toHaveLength(1);
    };
    await Promise.all([ask(), ask(), ask(), running]);
    expect((await running).passed).toBe(true);
  });

  it("that does not start leaves one process to ask", async () => {
    const processes = () => descendantsOf(process.pid).filter(({ command }) => command.includes(OF_A_DRIVER));
    const before = processes().length;
    const drivers = await makeDrivers({}, undefined, { executablePath: "/nowhere/chrome" });
    open.push(drivers);
    for (let n = 0; n < 3; n++) {
      expect(await drivers.devices([])).toHaveLength(1);
      await expect.poll(() => drivers.browsers()).toEqual([]);
    }
    expect(processes()).toHaveLength(before + 1);
  });

  it("is replaced if it ended between two runs", async () => {
    const { drivers, started, run } = await counted({});
    await run();
    const ended = descendantsOf(process.pid).filter(({ command }) => /--remote-debugging-pipe/.test(command));
    for (const { pid } of ended) killed(pid);
    await expect.poll(() => drivers.browsers()).toEqual([]);
    expect((await run()).passed).toBe(true);
    expect(started).toHaveLength(2);
  });

  it("with a context that closes slowly finishes its other runs, but gets no new ones", async () => {
    let isFit = true;
    const contexts = new Contexts({
      launch: () => launch(launchOptions()),
      unfit: () => {
        isFit = false;
      },
      ignoreHttpsErrors: false,
      closeMs: 0,
    });
    const [device] = await devicesOf([]);
    if (device === undefined) throw new Error("no device");
    const make = () => contexts.open({ device, guard: openGuard, recording: undefined });
    const [slow, other] = [await make(), await make()];
    await slow.close();
    expect(isFit).toBe(false);
    await other.page.goto(web.url);
    expect(await other.page.title()).toBe("Docs");
    await contexts.close();
  });

  it("is stopped when idle, and started again on demand", async () => {
    const { drivers, started, run } = await counted({ quietMs: 50, idleMs: 100 });
    await run();
    await expect.poll(() => drivers.browsers()).toEqual([]);
    expect((await run()).passed).toBe(true);
    expect(started).toHaveLength(2);
  });

  it("is not started again after the server closes", async () => {
    const { drivers, run } = await counted({});
    drivers.prewarm();
    await drivers.close();
    await expect(run()).rejects.toMatchObject({ kind: "unavailable" });
  });
});
