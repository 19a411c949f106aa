import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Handler, page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { makeTester, type TestTester } from "../../../test/testers.ts";

let lab: TestTester;
beforeAll(async () => {
  // A miss that does not end early takes longer than a test may.
  lab = await makeTester({ stepMs: 600_000 });
});
afterAll(() => lab.close());

const run = async (
  html: string | Handler,
  steps: readonly string[],
  assertions: readonly string[] = [],
  others: Readonly<Record<string, string | Handler>> = {},
) => {
  const { url } = await site({ "/": html, ...others });
  return lab.run({ url, steps, assertions });
};

describe("a miss on a page that can no longer change", () => {
  it.each([
    ["a plain page", page("<h1>Docs</h1>")],
    [
      "one whose timers have fired",
      page("<h1>Docs</h1><script>setTimeout(() => setTimeout(() => 0, 90), 90)</script>"),
    ],
    [
      "one that stopped its interval",
      page(
        "<h1>Docs</h1><script>const id = setInterval(() => clearInterval(id), 50); cancelAnimationFrame(requestAnimationFrame(() => 0))</script>",
      ),
    ],
    [
      "one whose animation ended",
      page(
        `<h1 style="animation: 0.1s a">Docs</h1><style>@keyframes a { from { opacity: 0 } }</style>`,
      ),
    ],
    [
      "one with a frame without scripts",
      page(`<h1>Docs</h1><iframe sandbox srcdoc="<p>x"></iframe>`),
    ],
  ])("ends early: %s", async (_, html) => {
    expect((await run(html, ["click 'Save'"])).failed_step).toContain("nothing matches 'Save'");
    expect((await run(html, ["fill `#name` with secret 'PASSWORD'"])).failed_step).toContain(
      "nothing matches #name",
    );
    const { assertions } = await run(
      html,
      ["wait for h1"],
      [
        "h2 is visible within 500s",
        "h1 is 'Other' within 500s",
        "h1 count at least 2 within 500s",
        "`option` is selected within 500s",
        "request to /api within 500s",
        "h1 is 'Docs' within 500s",
      ],
    );
    expect(assertions.map(({ actual }) => actual)).toEqual([
      expect.stringContaining("nothing matches h2"),
      'its text is "Docs"',
      "the count is 1",
      expect.stringContaining("nothing matches option"),
      expect.stringMatching(/none of \d+ requests matches/),
      undefined,
    ]);
  });

  it("looks once more, as its last look can be older than the last change", async () => {
    const { assertions } = await run(
      page(
        "<h1>Docs</h1><script>setTimeout(() => { document.querySelector('h1').textContent = 'Later' }, 1900)</script>",
      ),
      [],
      ["h1 is 'Later' within 500s", "h1 is 'Docs, later' within 500s"],
    );
    expect(assertions.map(({ passed }) => passed)).toEqual([true, false]);
  });
});

const show = `document.body.append(Object.assign(document.createElement("h2"), { textContent: "Done" }))`;
const after = (script: string) =>
  page(`<h1>Docs</h1><script>const show = () => { ${show} }; ${script}</script>`);
const slow = (_: unknown, response: Parameters<Handler>[1]) =>
  void setTimeout(() => response.end("x"), 2_500);
const stream: Handler = (request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  // The browser connects again after this time.
  const isSecond = request.headers["last-event-id"] === "1";
  response.end(isSecond ? "data: x\n\n" : "retry: 2500\nid: 1\nevent: first\ndata: x\n\n");
};

describe("a page that is still working is waited for", () => {
  it.each<[string, string | Handler]>([
    ["a timer", after("setTimeout(show, 2500)")],
    ["an interval", after("let n = 0; setInterval(() => { n += 1; if (n === 2) show() }, 1250)")],
    [
      "frames",
      after(
        "const begin = performance.now(); const next = () => performance.now() - begin > 2500 ? show() : requestAnimationFrame(next); next()",
      ),
    ],
    [
      "a timer behind another script's own setTimeout",
      after(
        "const old = setTimeout; window.setTimeout = (...all) => old(...all); setTimeout(show, 2500)",
      ),
    ],
    ["a request", after('fetch("/slow").then((one) => one.text()).then(show)')],
    ["an EventSource that connects again", after('new EventSource("/stream").onmessage = show')],
    [
      "an animation",
      page(
        `<style>@keyframes a { from { opacity: 0 } }</style><h1 style="animation: 2.5s a" onanimationend='${show}'>Docs</h1>`,
      ),
    ],
    ["a worker", after('new Worker("/worker.js").onmessage = show')],
    [
      "a frame",
      after("onmessage = show").replace(
        "<h1>",
        `<iframe srcdoc="<script>setTimeout(() => parent.postMessage(1, '*'), 2500)</script>"></iframe><h1>`,
      ),
    ],
    ["a signal", after("AbortSignal.timeout(2500).onabort = show")],
    ["a task", after("scheduler.postTask(show, { delay: 2500 })")],
    [
      "a refresh of the document",
      page(`<meta http-equiv="refresh" content="2; url=/done"><h1>Docs</h1>`),
    ],
    [
      "a refresh in the header",
      (_, response) =>
        response
          .writeHead(200, { "content-type": "text/html", refresh: "2; url=/done" })
          .end(page("<h1>Docs</h1>")),
    ],
    [
      "an SVG animation",
      page(
        `<svg><rect><set attributeName="x" to="1" begin="2.5s" onbegin='${show}'/></rect></svg>`,
      ),
    ],
    ["another tab", after('const tab = open("/tab"); onmessage = show')],
  ])("%s", async (_, html) => {
    const others = {
      "/slow": slow,
      "/stream": stream,
      "/worker.js": "setTimeout(() => postMessage(1), 2500)",
      "/tab": page("<script>setTimeout(() => opener.postMessage(1, '*'), 2500)</script>"),
      "/done": page("<h2>Done</h2>"),
    };
    const report = await run(html, ["wait for h2 exists within 100s"], [], others);
    expect(report.failed_step).toBeUndefined();
  });

  it("by an action", async () => {
    expect((await run(after("setTimeout(show, 2500)"), ["hover h2"])).failed_step).toBeUndefined();
  });

  it("a clock that a step replaced", async () => {
    const html = after("setTimeout(show, 2500)");
    expect(
      (await run(html, ["clock at '2026-12-24T18:00:00Z'", "wait for h2 exists within 100s"]))
        .failed_step,
    ).toBeUndefined();
  });

  it("sees browser functions that are unchanged", async () => {
    const html = page(`<script>document.write("<p>" + [
      Function.prototype.toString.call(setTimeout).includes("[native code]"), setTimeout.name, setTimeout.length,
      Object.keys(window).some((one) => one.includes("refmcp")), typeof setTimeout(() => 0, 0),
    ].join())</script>`);
    const { assertions } = await run(html, [], ["p is 'true,setTimeout,1,false,number'"]);
    expect(assertions).toEqual([expect.objectContaining({ passed: true })]);
  });
});
