import { createServer as createTcp } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isLong, rowsOf } from "../../../vitest.long.ts";
import { page, type Site } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

let lab: TestTester;
beforeAll(async () => {
  lab = await makeTester();
});
afterAll(() => lab?.close());

const good = { assertions: ["h1 is 'Good'"] };

describe("pages that do not behave", () => {
  let fine: Site;
  beforeAll(async () => {
    fine = await site({ "/": page("<h1>Good</h1>") });
  });
  /** The next run works, whatever the last page did. */
  const expectNextRunToPass = async () =>
    expect((await lab.run({ ...good, url: fine.url })).passed).toBe(true);

  it("a page that spins ends at the deadline, and the next run works", async () => {
    const { url } = await site({
      "/": page("<h1>Good</h1><script>while (true) {}</script>"),
      "/later": page(
        "<h1>Good</h1><script>setTimeout(() => { console.log('soon'); setTimeout(() => { while (true) {} }) }, 100)</script>",
      ),
    });
    const requests = [
      {
        url: `${url}/later`,
        steps: ["wait for 500ms"],
        evidence: ["screenshot", "trace"] as const,
      },
      { url, assertions: ["h1 is 'Good'"] },
      { url: `${url}/later`, assertions: ["h1 is 'Other'"] },
    ];
    for (const request of rowsOf(requests, 2)) {
      const found = await lab.failure({ timeoutMs: 1_500, ...request });
      expect(found).toMatchObject({ kind: "timeout", message: expect.stringContaining("1500 ms") });
      expect(found.data).toMatchObject({ passed: false, durationMs: expect.any(Number) });
      await expectNextRunToPass();
    }
  });

  it("a page that spins when it is clicked fails the step, and the next run works", async () => {
    const { url } = await site({
      "/": page("<h1>Good</h1><button onclick='while (true) {}'>go</button>"),
    });
    const report = await lab.run({ url, steps: ["click button 'go'"], ...good });
    expect(report).toMatchObject({
      passed: false,
      assertions: [{ actual: "not checked: a step failed" }],
    });
    expect(report.failed_step).toContain("click button 'go': button 'go' was found, but");
    await expectNextRunToPass();
  });

  if (isLong)
    it("a page that spins does not disturb runs at the same time", async () => {
      const spinning = await site({ "/": page("<h1>Good</h1><script>while (true) {}</script>") });
      const slow = lab.run({ ...good, url: fine.url, steps: ["wait for 2s"] });
      const failed = await lab.failure({ ...good, url: spinning.url, timeoutMs: 1_000 });
      expect(failed.kind).toBe("timeout");
      expect((await slow).passed).toBe(true);
    });

  it("patterns with catastrophic backtracking elsewhere run in linear time", async () => {
    const { url } = await site({ "/": page(`<h1>${"a".repeat(50_000)}!</h1>`) });
    const report = await lab.run({
      url,
      assertions: ["h1 matches /^(a+)+$/ within 1s", "h1 matches /(a|a)*!$/"],
    });
    expect(report.assertions.map(({ passed }) => passed)).toEqual([false, true]);
  });

  it("a heading of 1 MB is read in part, and the answer stays small", async () => {
    const { url } = await site({ "/": page(`<h1>${"long ".repeat(200_000)}</h1>`) });
    const report = await lab.run({
      url,
      assertions: ["h1 contains 'long long'", "h1 is 'x' within 100ms", "title is 'Docs'"],
    });
    expect(report.assertions.map(({ passed }) => passed)).toEqual([true, false, true]);
    expect(JSON.stringify(report).length).toBeLessThan(5_000);
  });

  it("floods of console lines, dialogs, popups, requests and downloads are bounded", async () => {
    const { url } = await site({
      "/console": page(
        "<h1>Good</h1><script>for (let n = 0; n < 20000; n++) console.log('x'.repeat(500)); console.error('the one that counts')</script>",
      ),
      "/dialogs": page("<h1>Good</h1><script>for (let n = 0; n < 200; n++) alert(n)</script>"),
      "/popups": page(
        "<h1>Good</h1><script>for (let n = 0; n < 30; n++) window.open('/empty')</script>",
      ),
      "/requests": page(
        "<h1>Good</h1><script>for (let n = 0; n < 6000; n++) fetch('/empty?' + n).catch(() => {})</script>",
      ),
      "/downloads": page(
        "<h1>Good</h1><script>for (let n = 0; n < 20; n++) { const a = document.createElement('a'); a.href = '/file'; a.download = 'f' + n; a.click(); }</script>",
      ),
      "/empty": "",
      "/file": (_, response) =>
        void response
          .writeHead(200, { "content-disposition": "attachment" })
          .end("x".repeat(1_000_000)),
    });
    const console_ = await lab.run({
      url: `${url}/console`,
      assertions: ["h1 is 'Good'", "no console errors"],
    });
    expect(console_.assertions[1]?.actual).toContain("the one that counts");
    expect(console_.notes?.join()).toContain("too many console messages");
    const dialogs = await lab.run({ url: `${url}/dialogs`, ...{ assertions: good.assertions } });
    expect(dialogs.passed).toBe(true);
    expect(dialogs.notes?.length).toBeLessThan(10);
    for (const path of rowsOf(["/requests", "/downloads", "/popups"], 1)) {
      const report = await lab.run({
        url: url + path,
        assertions: good.assertions,
        evidence: ["screenshot"],
      });
      expect(report.passed, path).toBe(true);
      expect(JSON.stringify(report).length, path).toBeLessThan(5_000);
      expect(
        report.artifacts?.map(({ name }) => name),
        path,
      ).toEqual([`${path.slice(1)}.png`]);
    }
  });

  if (isLong)
    it("endless dialogs stop at the deadline", async () => {
      const { url } = await site({
        "/": page("<h1>Good</h1><script>setTimeout(() => { while (true) alert(1) }, 50)</script>"),
      });
      expect((await lab.failure({ url, steps: ["wait for 5s"], timeoutMs: 2_000 })).kind).toBe(
        "timeout",
      );
      await expectNextRunToPass();
    });

  it("a renderer crash is reported, and the next run works", async () => {
    const { url } = await site({ "/": page("<h1>Good</h1>") });
    const crashing = lab.run({ url, steps: ["wait for 60s"] }).then(
      () => "passed",
      (error: unknown) => String(Object(error).code),
    );
    await crashRenderers(lab, url);
    expect(await crashing).toBe("crash");
    await expectNextRunToPass();
  });

  it("a screenshot of a page of 100,000 px is cut, with a note", async () => {
    const { url } = await site({ "/": page("<h1>Good</h1><div style='height: 100000px'></div>") });
    const report = await lab.run({ url, evidence: ["full_page"] });
    expect(report.notes?.join()).toContain("the first 16000");
    expect(report.artifacts?.[0]?.name).toBe("home.png");
  });

  it("a page that never finishes loading is checked as far as it loaded", async () => {
    const { url } = await site({
      "/": (_, response) =>
        void response
          .writeHead(200, { "content-type": "text/html" })
          .write(page("<h1>Good</h1><img src='/never'>")),
      "/never": () => undefined,
    });
    expect((await lab.failure({ url, timeoutMs: 1_500 })).kind).toBe("timeout");
    await expectNextRunToPass();
  });

  it("a host that does not respond, refuses or sends no HTTP is reported as such", async () => {
    const found = await lab.failure({ url: "http://127.0.0.1:1/" });
    expect(found).toMatchObject({ kind: "unavailable", code: "unreachable" });
    expect(found.message).toContain("127.0.0.1:1");
    const tcp = createTcp((socket) => socket.end("nonsense\n"));
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
    const address = tcp.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    expect((await lab.failure({ url: `http://127.0.0.1:${port}/` })).kind).toBe("unavailable");
    tcp.close();
  });
});

/** Crashes the process of every page of a site, as a page that uses up its memory does. */
async function crashRenderers({ tester }: TestTester, url: string): Promise<void> {
  const { browser } = await tester.contexts.browser();
  const busy = await vi.waitUntil(
    () => {
      const pages = browser.contexts().flatMap((context) => context.pages());
      const found = pages.filter((one) => one.url().startsWith(url));
      return found.length > 0 && found;
    },
    { timeout: 60_000 },
  );
  for (const one of busy) {
    const session = await one.context().newCDPSession(one);
    await session.send("Page.crash").catch(() => undefined);
  }
}
