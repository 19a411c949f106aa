import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { isLong, rowsOf } from "../../../../../vitest.long.ts";
import { ensureBrowser } from "../../../test/browser.mjs";
import { page } from "../../../test/lab.ts";
import { folderOf, site } from "../../../test/session.ts";
import { launchOptions, makeTester, type TestTester } from "../../../test/testers.ts";
import { Deadline } from "../deadline.ts";
import { launch } from "../driver/launch.ts";
import { PageEvents } from "./events.ts";
import { CLOCK_SCRIPT, Settling } from "./settle.ts";

/** Keeps the page's thread busy, like a large application that starts. */
const block = (milliseconds: number) =>
  `for (const until = performance.now() + ${milliseconds}; performance.now() < until; );`;

/** Blocks the thread after the load event; a timer that is set before fails when the thread is free again. */
const BUSY = `
  const later = setTimeout;
  addEventListener("load", () => later(() => {
    later(() => { console.error("too late"); throw new Error("late"); }, 60);
    ${block(400)}
  }));`;
/** The same where the timer is set when the thread is free again. */
const BUSY_FIRST = BUSY.replace(/( +later\(\(\) => \{ console.*)\n(.*)/, "$2\n$1");
/** Replaces everything that could be used to wait. */
const PATCHED = `
  window.setTimeout = window.requestAnimationFrame = window.requestIdleCallback = (done) => done();
  window.matchMedia = () => ({ matches: true });
  Promise.prototype.then = function () { return this; };
  window.Promise = class { constructor(begin) { begin(() => {}, () => {}); } };
  Object.defineProperty(document, "title", { get: () => "Patched" });`;

/** Is idle after its load event, but for what comes late: from a timer, or from a worker, which no page clock shows. */
const LATE = `addEventListener("load", () => setTimeout(() => { console.error("too late"); throw new Error("late"); }, 95));`;
const WORKER = `
  const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => setTimeout(() => postMessage(0), 60)"])));
  worker.onmessage = () => { console.error("too late"); throw new Error("late"); };
  addEventListener("load", () => worker.postMessage(0));`;

const script = (text: string) => page(`<h1>Good</h1><script>${text}</script>`);

/** A tab whose events are recorded. */
async function recorded() {
  const tab = await (await lab.tester.contexts.browser()).browser.newPage();
  onTestFinished(() => tab.close());
  await tab.addInitScript(CLOCK_SCRIPT);
  const events = new PageEvents(
    tab.context(),
    tab,
    () => undefined,
    (text) => text,
  );
  return { tab, events };
}

let lab: TestTester;
beforeAll(async () => {
  lab = await makeTester();
});
afterAll(() => lab.close());

describe("a page whose thread is busy after loading", () => {
  const assertions = ["no page errors", "no console errors"];
  const failed = [
    {
      name: "no page errors",
      passed: false,
      actual: expect.stringMatching(/^1 page error, the first: "Error: late at .*http/),
    },
    {
      name: "no console errors",
      passed: false,
      actual: expect.stringMatching(
        /^2 console errors, the first: "uncaught Error: late .*, then "too late \(http.*:\d+\)"$/,
      ),
    },
  ];

  it.each(
    rowsOf(
      [
        ["that is idle until a timer throws", script(LATE)],
        ["that is idle until a worker's message", script(WORKER)],
        ["that replaced the functions to wait with", script(BUSY + PATCHED)],
        ["in a frame", page("<h1>Good</h1><iframe src='/busy'></iframe>")],
        ["that throws from a timer", script(BUSY)],
        ["that sets the timer when it is free again", script(BUSY_FIRST)],
        [
          "in a frame that is added later",
          script(`addEventListener("load", () => setTimeout(() => {
      const frame = document.createElement("iframe"); frame.src = "/busy"; document.body.append(frame);
    }, 20));`),
        ],
      ],
      3,
    ),
  )("%s does not pass", async (_, body) => {
    const { url } = await site({ "/": body, "/busy": script(BUSY) });
    expect((await lab.run({ url, assertions })).assertions).toEqual(failed);
  });

  if (isLong)
    it("in a frame with a separate process does not pass", async () => {
      const other = await site({ "/busy": script(BUSY) }, "127.0.0.2");
      const { url } = await site({
        "/": page(`<h1>Good</h1><iframe src="${other.url}/busy"></iframe>`),
      });
      const isolated = await isolatingBrowser();
      const tester = await makeTester({
        launch: () => launch(launchOptions({ cdpEndpoint: isolated.endpoint })),
      });
      try {
        expect((await tester.run({ url, assertions })).assertions).toEqual(failed);
      } finally {
        await tester.close();
        await isolated.end();
      }
    });

  /** What a page recorded whose requests never end, with almost no time to become quiet. */
  const settle = async (code: string, waitUntil: "load" | "domcontentloaded" = "load") => {
    const { url } = await site({
      "/": script(`${code}; setInterval(() => fetch("/data"), 20)`),
      "/data": (_, response) => void setTimeout(() => response.end(), 300),
      "/never": () => undefined,
    });
    const { tab, events } = await recorded();
    const deadline = new Deadline(240_000, new AbortController().signal);
    onTestFinished(() => deadline.end());
    const settling = new Settling(events);
    await tab.goto(url, { waitUntil });
    expect(await settling.settled(deadline, { quietMs: 80, atMostMs: 20, isThorough: true })).toBe(
      false,
    );
    return { errors: events.pageErrors, notes: [...events.notes] };
  };

  it("never settles if it is still loading then, and the run says so", async () => {
    const { notes } = await settle("document.write('<img src=/never>')", "domcontentloaded");
    expect(notes).toEqual([expect.stringMatching(/^the page never settled, so /)]);
  });

  it("has no idle network until the response to a late request", async () => {
    const { url } = await site({
      "/": script(`addEventListener("load", () => setTimeout(() => {
        ${block(900)}
        fetch("/data").then((answer) => answer.text()).then((text) => { document.querySelector("h1").textContent = text; });
      }));`),
      "/data": (_, response) => void setTimeout(() => response.end("Here"), 200),
    });
    const steps = ["wait for network idle", "expect h1 is 'Here' within 1ms"];
    expect((await lab.run({ url, steps })).failed_step).toBeUndefined();
  });
});

describe("a request that stays open", () => {
  it.each(
    rowsOf(
      [
        ["EventSource", "new EventSource('/open')", "text/event-stream"],
        ["long poll", "fetch('/open')", undefined],
        ["streamed response", "fetch('/open').then((answer) => answer.text())", "text/plain"],
      ],
      2,
    ),
  )("%s does not keep the network busy", async (_, code, type) => {
    const { url } = await site({
      "/": script(code),
      "/open": (_request, response) => {
        if (type !== undefined) response.writeHead(200, { "content-type": type }).write(":\n\n");
      },
    });
    const report = await lab.run({
      url,
      steps: ["wait for network idle"],
      assertions: ["no console errors"],
    });
    expect(report).toMatchObject({ passed: true });
    expect(report.failed_step).toBeUndefined();
  });

  /** Whether a request is still in progress one second after its start, without a response. */
  const isWaitedFor = async (code: string): Promise<boolean> => {
    const { url } = await site({ "/": page("<h1>Good</h1>"), "*": () => undefined });
    const { tab, events } = await recorded();
    await tab.goto(url);
    const waited = new Promise<boolean>((resolve) =>
      tab.on("request", () => {
        const later = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 1_000);
        resolve(events.inFlight > 0);
        later.mockRestore();
      }),
    );
    await tab.evaluate(`void ${code}.catch(() => undefined)`);
    return waited;
  };
  it("is waited for, since its data may be late", async () => {
    expect(await isWaitedFor("fetch('/poll')")).toBe(true);
  });

  if (isLong)
    it("leaves time for a verdict where the page's clock is slow", async () => {
      // Each round blocks the thread, and requests never end for long: by the page's clock, 3 s take 20 s.
      const { url } = await site({
        "/": script(`setInterval(() => { ${block(450)} fetch("/data"); }, 1)`),
        "/data": (_, response) => void setTimeout(() => response.end(), 300),
      });
      const report = await lab.run({ url, assertions: ["no console errors"], timeoutMs: 5_000 });
      expect(report).toMatchObject({ passed: true });
    });
});

it("a frame whose document is blocked, or never arrives, holds up no verdict", async () => {
  const never = isLong ? "<iframe src='/never'></iframe>" : "";
  const { url } = await site({
    "/": page(`<h1>Good</h1><iframe src="file:///x"></iframe>${never}`),
    "/never": () => undefined,
  });
  const assertions = ["no console errors", "no broken images", "no a11y violations in h1"];
  const all = await lab.run({ url, assertions, timeoutMs: 60_000 });
  expect(all.assertions.map(({ passed }) => passed)).toEqual([false, true, true]);
});

it("a page with scripts disabled gets no errors from our timers", async () => {
  const { url } = await site({
    "/": (_, response) =>
      void response
        .writeHead(200, { "content-type": "text/html", "content-security-policy": "sandbox" })
        .end(page("<h1>Good</h1><iframe sandbox srcdoc='<p>Inside</p>'></iframe>")),
  });
  const report = await lab.run({ url, assertions: ["no console errors", "no page errors"] });
  expect(report).toMatchObject({ passed: true });
});

/** A browser that gives each site's frames a separate process, as Chrome does on a desktop. */
async function isolatingBrowser(): Promise<{ endpoint: string; end: () => Promise<void> }> {
  const { executablePath } = await ensureBrowser();
  const child = spawn(
    executablePath,
    [
      "--headless",
      "--no-sandbox",
      "--site-per-process",
      "--remote-debugging-port=0",
      `--user-data-dir=${await folderOf("isolating")}`,
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let endpoint = "";
  for await (const line of createInterface({ input: child.stderr })) {
    endpoint = /DevTools listening on ws:\/\/([^/]+)/.exec(line)?.[1] ?? "";
    if (endpoint !== "") break;
  }
  return {
    endpoint: `http://${endpoint}`,
    end: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
