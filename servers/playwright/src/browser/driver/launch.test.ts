import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { isLong, rowsOf } from "../../../../../vitest.long.ts";
import { ensureBrowser } from "../../../test/browser.mjs";
import { openGuard, page, type Site } from "../../../test/lab.ts";
import { descendantsOf, isRunning } from "../../../test/processes.ts";
import { folderOf, site } from "../../../test/session.ts";
import {
  CALL,
  launchOptions,
  makeDrivers,
  makeTester,
  ownBrowser,
  requestOf,
} from "../../../test/testers.ts";
import { parseScript } from "../language/script.ts";
import { playwright } from "../library.ts";
import { SecretsInRun } from "../secrets/secrets.ts";
import { Contexts } from "../session/contexts.ts";
import { Deadline } from "../session/deadline.ts";
import { devicesOf } from "../session/devices.ts";
import { explained, openSession, performAll } from "../session/page-session.ts";
import { killed } from "./driver.ts";
import type { Drivers } from "./drivers.ts";
import { type Candidate, candidatesOf } from "./installed.ts";
import { launch } from "./launch.ts";
import { HEAP_MB } from "./process.ts";

/** In the command of a driver's process. */
const OF_A_DRIVER = `--max-old-space-size=${HEAP_MB}`;
let browser: Awaited<ReturnType<typeof ensureBrowser>>;
let web: Site;
beforeAll(async () => {
  browser = await ensureBrowser();
  web = await site({ "*": page("<h1>Good</h1>") });
});

describe("a browser is found", () => {
  /** The places in a folder with these programs, where Playwright says that its Chromium is at `own` of it. */
  async function placesIn(programs: readonly string[], own: string) {
    const folder = await folderOf("registry");
    for (const name of programs) {
      const path = join(folder, name);
      await mkdir(join(path, ".."), { recursive: true });
      if (name.includes("1200")) await symlink(browser.executablePath, path);
      else await writeFile(path, "no program", { mode: 0o755 });
    }
    const search = { executablePath: undefined, env: {}, platform: "linux" } as const;
    const found = await candidatesOf({
      ...search,
      chromium: { executablePath: () => join(folder, own) },
    });
    const places = found.map(({ place }) => place.replace(`${folder}/`, ""));
    return { found, places };
  }
  const OWN = "chromium-1255/chrome-linux64/chrome";

  it("where Playwright installs: the newest headless shell first, whatever its revision", async () => {
    const { found, places } = await placesIn(
      [
        "chromium-1300/chrome-linux/chrome",
        "chromium_headless_shell-999/chrome-linux/headless_shell",
        "chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell",
        "firefox-1/firefox/firefox",
      ],
      OWN,
    );
    expect(places.slice(0, 3)).toEqual([
      "chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell",
      "chromium_headless_shell-999/chrome-linux/headless_shell",
      "chromium-1300/chrome-linux/chrome",
    ]);
    expect(places.slice(3)).toContain("/usr/bin/chromium");
    const launched = await launch(launchOptions(), async () => found);
    expect(launched.from).toBe(found[0]?.place);
    expect(launched.sandboxed).toBe(process.getuid?.() !== 0);
    await launched.browser.close();
  });

  it("on macOS, in the application that Playwright names", async () => {
    const inside =
      "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing";
    const { places } = await placesIn([`chromium-1255/${inside}`], `chromium-1255/${inside}`);
    expect(places[0]).toBe(`chromium-1255/${inside}`);
  });

  it("if Playwright has installed none, where it would, then in the system", async () => {
    expect((await placesIn([], OWN)).places.slice(0, 2)).toEqual([
      OWN,
      "/usr/lib/chromium/chromium-headless-shell",
    ]);
    const unsupported = () => {
      throw new Error("Browser is not supported on current platform");
    };
    const search = { executablePath: undefined, env: {}, platform: "linux" } as const;
    const [first] = await candidatesOf({ ...search, chromium: { executablePath: unsupported } });
    expect(first?.place).toBe("/usr/lib/chromium/chromium-headless-shell");
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

describe("if none starts", () => {
  const broken = async (script = "exit 1"): Promise<Candidate[]> => {
    const path = join(await folderOf("broken"), "chrome");
    await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return [path, "/nowhere/chrome"].map((executablePath) => ({
      program: { executablePath },
      place: executablePath,
      required: false,
    }));
  };

  it("the error does not say that there is none, and gives the reason of each", async () => {
    const candidates = await broken();
    const failed = launch(launchOptions(), async () => candidates);
    await expect(failed).rejects.toMatchObject({
      kind: "unavailable",
      code: "no_browser",
      message: expect.stringMatching(
        /^No browser on this machine starts\. Tried:\n\S+chrome: .+\n\/nowhere\/chrome: not there$/,
      ),
      hint: expect.not.stringContaining("playwright install"),
    });
  });

  it("the sandbox is not the reason where it is off", async () => {
    const candidates = await broken();
    const failed = launch(launchOptions({ sandbox: false }), async () => candidates);
    await expect(failed).rejects.toMatchObject({
      message: expect.not.stringContaining("sandbox does not"),
    });
  });

  it("for lack of open files, the limit is named", async () => {
    // What Chromium prints: where it reaches a low limit, and whether it can say so, differs from start to start.
    const candidates = await broken(
      'echo "[FATAL:message_pump_epoll.cc:143] Check failed: . : Too many open files (24)" >&2; exit 1',
    );
    await expect(launch(launchOptions(), async () => candidates)).rejects.toMatchObject({
      kind: "unavailable",
      code: "no_browser",
      message: "No browser can start: it would have too many open files.",
      hint: expect.stringContaining("ulimit -n"),
    });
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

  it.each(["firefox", "webkit"] as const)(
    "%s is Playwright's, and one command installs it",
    async (name) => {
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
    },
  );

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

  if (isLong)
    it("is used by --ws-endpoint, and left running", async () => {
      const server = await chromium.launchServer({
        executablePath: browser.executablePath,
        env: Object.fromEntries(Object.entries(process.env).map(([k, v]) => [k, v ?? ""])),
      });
      try {
        const wsEndpoint = server.wsEndpoint();
        const tester = await makeTester({ launch: () => launch(launchOptions({ wsEndpoint })) });
        expect((await tester.run({ url: web.url, assertions: ["h1 is 'Good'"] })).passed).toBe(
          true,
        );
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

  it("is started ahead of time, serves runs up to a number of them, and is replaced then or if it ended", async () => {
    const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
    const { drivers, started, run } = await counted({ calls: 4 });
    drivers.prewarm();
    await Promise.all([run(), run(), run()]);
    expect((await run()).passed).toBe(true);
    expect(started).toHaveLength(1);
    expect((await run()).passed).toBe(true);
    expect(started).toHaveLength(2);
    const ended = descendantsOf(process.pid).filter(
      ({ pid, command }) => !before.has(pid) && /--remote-debugging-pipe/.test(command),
    );
    expect(ended).not.toEqual([]);
    for (const { pid } of ended) killed(pid);
    await expect.poll(() => drivers.browsers()).toEqual([]);
    expect((await run()).passed).toBe(true);
    expect(started).toHaveLength(3);
    await drivers.close();
    await expect(run()).rejects.toMatchObject({ kind: "unavailable" });
  });

  if (isLong)
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

  if (isLong)
    it("that does not start leaves one process to ask", async () => {
      const processes = () =>
        descendantsOf(process.pid).filter(({ command }) => command.includes(OF_A_DRIVER));
      const before = processes().length;
      const drivers = await makeDrivers({}, undefined, { executablePath: "/nowhere/chrome" });
      open.push(drivers);
      for (let n = 0; n < 3; n++) {
        expect(await drivers.devices([])).toHaveLength(1);
        await expect.poll(() => drivers.browsers()).toEqual([]);
      }
      expect(processes()).toHaveLength(before + 1);
    });

  it("whose spare page was killed while idle gives the next run another page", async () => {
    const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
    const tester = await makeTester();
    onTestFinished(() => tester.close());
    for (const isNoticed of rowsOf([false, true], 1)) {
      await tester.tester.contexts.prewarm();
      const pages = descendantsOf(process.pid).filter(
        ({ pid, command, state }) =>
          !before.has(pid) && state !== "Z" && /--type=renderer/.test(command),
      );
      expect(pages).not.toEqual([]);
      for (const { pid } of pages) killed(pid);
      if (isNoticed) await expect.poll(() => pages.filter(({ pid }) => isRunning(pid))).toEqual([]);
      expect(await tester.run(url())).toMatchObject({ passed: true });
    }
  });

  it("with a context that closes slowly finishes its other runs, but gets no new ones", async () => {
    let isFit = true;
    const contexts = new Contexts({
      launch: ownBrowser,
      unfit: () => {
        isFit = false;
      },
      ignoreHttpsErrors: false,
      closeMs: 0,
    });
    const [device] = await devicesOf([]);
    if (device === undefined) throw new Error("no device");
    const make = () => contexts.open(device, openGuard);
    const [slow, other] = [await make(), await make()];
    await slow.close();
    expect(isFit).toBe(false);
    await other.page.goto(web.url);
    expect(await other.page.title()).toBe("Docs");
    await contexts.close();
  });

  it("that closes late, but within the time that it was given, gets further runs", async () => {
    let isFit = true;
    const contexts = new Contexts({
      launch: ownBrowser,
      unfit: () => {
        isFit = false;
      },
      ignoreHttpsErrors: false,
      closeMs: 0,
    });
    const [device] = await devicesOf([]);
    if (device === undefined) throw new Error("no device");
    const opened = await contexts.open(device, openGuard);
    await opened.close(60_000);
    expect(isFit).toBe(true);
    await contexts.close();
  });

  // Playwright's newPage fails then, or is never settled: for 4 of 348 browsers under load.
  it("that ends while a context is created fails that context at once", async () => {
    const launched = ownBrowser();
    const contexts = new Contexts({ launch: () => launched, ignoreHttpsErrors: false });
    const [device] = await devicesOf([]);
    if (device === undefined) throw new Error("no device");
    const { browser } = await launched;
    const make = browser.newContext.bind(browser);
    let isCreating = false;
    Object.assign(browser, {
      newContext: async () => ({
        addInitScript: async () => undefined,
        newPage: () => {
          isCreating = true;
          return new Promise(() => undefined);
        },
      }),
    });
    const failed = () =>
      expect(contexts.open(device, openGuard)).rejects.toThrow("The browser ended during the run.");
    const opening = failed();
    await expect.poll(() => isCreating).toBe(true);
    await contexts.close();
    await opening;
    Object.assign(browser, { newContext: make });
    await failed();
  });

  it("that ended is not taken for a page that closed itself, although Playwright reports the page first", async () => {
    const lab = await makeTester();
    onTestFinished(() => lab.close());
    const { options, contexts } = lab.tester;
    const url = new URL(web.url);
    const [device] = await devicesOf([]);
    if (device === undefined) throw new Error("no device");
    const session = await openSession(
      {
        ...{ url, device, steps: [], folder: await options.runs.begin(), keepsDownloads: false },
        artifacts: { kinds: [], stem: "home", writesSecrets: false },
        deadline: new Deadline(240_000, CALL.signal),
      },
      await lab.tester.servicesFor(url, new SecretsInRun(options.secrets, [])),
    );
    const { steps } = parseScript(["click button 'Go'"], []);
    const { browser } = await contexts.browser();
    await browser.close();
    Object.assign(browser, { isConnected: () => true });
    const gone = "The browser ended during the run.";
    await expect(performAll(steps, session, () => undefined)).rejects.toThrow(gone);
    expect(await explained(new Error("closed"), session)).toMatchObject({ message: gone });
  });

  if (isLong)
    it("is stopped when idle, and started again on demand", async () => {
      const { drivers, started, run } = await counted({ quietMs: 50, idleMs: 100 });
      await run();
      await expect.poll(() => drivers.browsers()).toEqual([]);
      expect((await run()).passed).toBe(true);
      expect(started).toHaveLength(2);
    });

  if (isLong)
    it("is not started again after the server closes while it starts", async () => {
      const { drivers, run } = await counted({});
      drivers.prewarm();
      await drivers.close();
      await expect(run()).rejects.toMatchObject({ kind: "unavailable" });
    });
});
