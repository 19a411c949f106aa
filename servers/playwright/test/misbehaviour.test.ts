import { createServer as createTcp } from "node:net";
import type { Page } from "playwright";
import { expect, it, vi } from "vitest";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester } from "./testers.ts";

const lab = makeTester();

const good = { assertions: ["h1 is 'Good'"] };
const script = (code: string) => `<h1>Good</h1><script>${code}</script>`;
const each = (count: number, code: string) =>
  script(`for (let n = 0; n < ${count}; n++) { ${code} }`);
const later = (code: string) => script(`setTimeout(() => { ${code} }, 100)`);

/** Pages that run into the time limit. */
const ENDLESS: Readonly<Record<string, string>> = {
  "spins at once": script("while (true) {}"),
  "spins later": later("while (true) {}"),
  "shows dialogs without end": later("while (true) alert(1)"),
  "never ends loading": "<h1>Good</h1><img src='/never'>",
};
/** Pages that get their verdict, and what it notes. */
const FLOODS: Readonly<Record<string, readonly [html: string, note?: string]>> = {
  "console lines": [each(20_000, "console.log('x'.repeat(500))"), "too many console messages"],
  dialogs: [each(200, "alert(n)")],
  popups: [each(30, "window.open('/empty')")],
  requests: [each(6_000, "fetch('/empty?' + n).catch(() => {})")],
  downloads: [
    each(20, "Object.assign(document.createElement('a'), { href: '/file', download: n }).click()"),
  ],
  "100,000 px": ["<h1>Good</h1><div style='height: 100000px'></div>", "the first 16000"],
  reloads: [
    script(
      "localStorage.n = 1 + Number(localStorage.n ?? 0); if (localStorage.n < 9) location.reload()",
    ),
  ],
  "a flood of history": [each(5_000, "history.pushState(0, '', '?' + n)")],
};

const all = [...Object.values(ENDLESS), ...Object.values(FLOODS).map(([html]) => html)];
const web = await site({
  ...Object.fromEntries(all.map((html, index) => [`/${index}`, page(html)])),
  "/": page("<h1>Good</h1>"),
  "/crash": page("<h1>Good</h1>"),
  "/click": page("<h1>Good</h1><button onclick='while (true) {}'>go</button>"),
  "/text": page(`<h1>${"a".repeat(50_000)}!</h1><h2>${"long ".repeat(200_000)}</h2>`),
  "/never": () => undefined,
  "/empty": "",
  "/file": "x".repeat(1_000_000),
});

/** The next run works after any page. */
const expectNextRunToPass = async () =>
  expect((await lab.run({ ...good, url: web.url })).passed).toBe(true);

it.each(Object.keys(ENDLESS))("a page that %s ends at the deadline", async (name) => {
  const url = `${web.url}/${Object.keys(ENDLESS).indexOf(name)}`;
  const failure = await lab.failure({ url, steps: ["wait for 60s"], timeoutMs: 1_500 });
  expect(failure).toMatchObject({ kind: "timeout", message: expect.stringContaining("1500 ms") });
  expect(failure.data).toMatchObject({ passed: false, durationMs: expect.any(Number) });
  await expectNextRunToPass();
});

it.each(Object.entries(FLOODS))("a page with %s is bounded", async (name, [, note = ""]) => {
  const index = Object.keys(ENDLESS).length + Object.keys(FLOODS).indexOf(name);
  const evidence = name.endsWith("px") ? (["full_page"] as const) : (["screenshot"] as const);
  const report = await lab.run({ url: `${web.url}/${index}`, ...good, evidence });
  expect(report.passed).toBe(true);
  expect(JSON.stringify(report).length).toBeLessThan(5_000);
  expect(report.notes?.join() ?? "").toContain(note);
  expect(report.notes?.length ?? 0).toBeLessThan(20);
  expect(report.artifacts?.map(({ name: file }) => file)).toEqual([`${index}.png`]);
});

it("a page that spins when it is clicked fails the step, and the next run works", async () => {
  const steps = ["click button 'go'"];
  const report = await lab.run({ ...good, url: `${web.url}/click`, steps });
  expect(report.assertions).toMatchObject([{ actual: "not checked: a step failed" }]);
  expect(report.failed_step).toContain("click button 'go': button 'go' was found, but");
  await expectNextRunToPass();
});

it("a page whose text takes a pattern exponential time elsewhere is read in linear time", async () => {
  const patterns = ["h1 matches /^(a+)+$/ within 1s", "h1 matches /(a|a)*!$/"];
  const assertions = [...patterns, "h2 is 'x' within 1s"];
  const report = await lab.run({ url: `${web.url}/text`, assertions });
  expect(report.assertions.map(({ passed }) => passed)).toEqual([false, true, false]);
  expect(JSON.stringify(report).length).toBeLessThan(5_000);
});

it("a page whose process crashes is reported, and the next run works", async () => {
  const crashing = lab.failure({ url: `${web.url}/crash`, steps: ["wait for 60s"] });
  const { browser } = await lab.tester.contexts.browser();
  const pages = () => browser.contexts().flatMap((context) => context.pages());
  const isCrashing = (page: Page) => page.url().endsWith("/crash");
  const busy = await vi.waitUntil(() => pages().find(isCrashing), { timeout: 60_000 });
  // As a page does that uses up its memory.
  const session = await busy.context().newCDPSession(busy);
  await session.send("Page.crash").catch(() => undefined);
  expect((await crashing).code).toBe("crash");
  await expectNextRunToPass();
});

it("a host that refuses or sends no HTTP is reported as such", async () => {
  const failure = await lab.failure({ url: "http://127.0.0.1:1/" });
  expect(failure).toMatchObject({ kind: "unavailable", code: "unreachable" });
  expect(failure.message).toContain("127.0.0.1:1");
  const tcp = createTcp((socket) => socket.end("nonsense\n"));
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const { port } = Object(tcp.address());
  expect((await lab.failure({ url: `http://127.0.0.1:${port}/` })).kind).toBe("unavailable");
  tcp.close();
});
