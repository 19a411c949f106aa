import { chmod, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { page, type Site } from "./lab.ts";
import { type Answer, answerOf, folderOf, site } from "./session.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const LONG_MS = 300_000;

const later = (ms: number, code: string) => `<script>setTimeout(() => { ${code} }, ${ms})</script>`;
const done = (response: ServerResponse, status: number, type: string, body: string) =>
  response.writeHead(status, { "content-type": type }).end(body);

/** An error that nothing catches, by where it is thrown. */
const THROWN: Readonly<Record<string, string>> = {
  script: "<script>throw new Error('boom')</script>",
  rejection: "<script>Promise.reject(new Error('boom'))</script>",
  timer: later(20, "throw new Error('boom')"),
  "later timer": later(1_500, "throw new Error('boom')"),
  module: "<script type=module>throw new Error('boom')</script>",
  frame: "<iframe srcdoc=\"<script>throw new Error('boom')</script>\"></iframe>",
  "other frame": '<iframe src="/throws"></iframe>',
  worker:
    "<script>new Worker(URL.createObjectURL(new Blob([\"throw new Error('boom')\"])))</script>",
};

/** What changes a page, by the clock that runs until then: not a timer of the page. */
const CLOCKS: Readonly<Record<string, string>> = {
  cryptography: `crypto.subtle.importKey("raw", new Uint8Array(9), "PBKDF2", false, ["deriveBits"]).then((key) => {
    const bits = () => crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(9), iterations: 3e5 }, key, 512);
    return [...Array(8)].reduce((work) => work.then(bits), Promise.resolve());
  }).then(done)`,
  "a message channel": `const { port1, port2 } = new MessageChannel();
    let count = 0;
    port1.onmessage = () => (performance.now() < 3000 ? port2.postMessage(0) : done());
    port2.postMessage(0)`,
  "Atomics.waitAsync":
    "Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000).value.then(done)",
};

const ISOLATED = {
  "content-type": "text/html",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

let server: Connected;
let executablePath: string;
let web: Site;
beforeAll(async () => {
  ({ executablePath } = await ensureBrowser());
  const pages: [string, string][] = [
    ...Object.entries(THROWN).map(([name, html]): [string, string] => [
      `/thrown/${encodeURIComponent(name)}`,
      page(`<h1>Docs</h1>${html}`),
    ]),
    [
      "/calm",
      page(
        `<h1>Docs</h1><a href="/calm">About</a><button>Save</button><ul><li class="card">Finance</li><li class="card">Maintenance</li><li class="card" hidden>NaN</li></ul>
        <div role="tablist"><button role="tab">Details</button></div><a href="/calm" hidden>Home</a><a href="/calm">Home</a>
        <svg><title>one</title></svg><svg><title>two</title></svg><p id="deep" style="margin-top:5000px">Buy now</p>`,
      ),
    ],
    ["/nan", page("<h1>Sums</h1><p>Total: NaN</p><p>Mean: NaN</p>")],
  ];
  web = await site({
    ...Object.fromEntries(pages),
    "/throws": (_, response) =>
      done(response, 200, "text/html", "<script>throw new Error('boom')</script>"),
    "/late": page(
      `<h1>Docs</h1><script>fetch("/late/data").then((answer) => { if (!answer.ok) { console.error("no data"); document.body.append("Something went wrong"); } })</script>`,
    ),
    "/late/data": (_, response) =>
      void setTimeout(() => done(response, 500, "text/plain", "no"), 3_000),
    "/open": page('<h1>Docs</h1><script>fetch("/open/data")</script>'),
    "/open/data": () => undefined,
    ...Object.fromEntries(
      Object.entries(CLOCKS).map(([name, code]) => [
        `/clock/${encodeURIComponent(name)}`,
        (_: unknown, response: ServerResponse) =>
          response
            .writeHead(200, ISOLATED)
            .end(
              `<!doctype html><title>Clock</title><h1>Clock</h1><script>const done = () => document.body.append("Done");\n${code}</script>`,
            ),
      ]),
    ),
  });
  server = await serverWith(executablePath);
}, LONG_MS);
afterAll(() => server.close());

/** A server over stdio with this browser. */
async function serverWith(browser: string): Promise<Connected> {
  const folder = await folderOf("fence");
  const dirs = [["--output-dir", join(folder, "runs")]];
  return connectStdio(BIN, { args: ["--executable-path", browser, ...dirs.flat()] });
}

async function run(path: string, given: Record<string, unknown>, on = server): Promise<Answer> {
  const args = { url: web.url + path, timeout_ms: LONG_MS, ...given };
  return answerOf(
    await on.client.callTool({ name: "pw_run_test", arguments: args }, { timeout: LONG_MS }),
  );
}

describe("no console errors", () => {
  it.each(Object.keys(THROWN))(
    "fails where a page throws an error that nothing catches: %s",
    async (name) => {
      const path = `/thrown/${encodeURIComponent(name)}`;
      const { data, text } = await run(path, { assertions: ["no console errors"] });
      expect(data["passed"], text).toBe(false);
      expect(text).toContain("boom");
    },
    LONG_MS,
  );

  it(
    "is noted in a verdict about something else, and fails in the exported spec, too",
    async () => {
      const passing = await run("/thrown/script", { assertions: ["h1 is 'Docs'"] });
      expect(passing.data["passed"]).toBe(true);
      expect(JSON.stringify(passing.data["notes"])).toContain("boom");
      const spec = answerOf(
        await server.client.callTool({
          name: "pw_export_spec",
          arguments: { title: "t", url: web.url, assertions: ["no console errors"] },
        }),
      );
      expect(spec.text).toMatch(/on\("pageerror", \(error\) => consoleErrors\.push/);
    },
    LONG_MS,
  );
});

describe("checks of absence", () => {
  it(
    "wait for data that a script has asked for",
    async () => {
      const assertions = [
        "no console errors",
        "no failed requests",
        "'Something went wrong' is not visible",
      ];
      const { data } = await run("/late", { assertions });
      expect(data["assertions"]).toMatchObject(assertions.map(() => ({ passed: false })));
    },
    LONG_MS,
  );

  it(
    "name a request that is still open",
    async () => {
      const { data } = await run("/open", { assertions: ["no console errors"] });
      expect(data["passed"]).toBe(true);
      expect(data["notes"]).toContainEqual(
        expect.stringMatching(/^checked while GET \S+\/open\/data was still open/),
      );
    },
    LONG_MS,
  );
});

it.each(Object.keys(CLOCKS))(
  "a check with within waits that long, whatever works on the page: %s",
  async (name) => {
    const path = `/clock/${encodeURIComponent(name)}`;
    const { data, text } = await run(path, { assertions: ["'Done' is visible within 60s"] });
    expect(data["passed"], text).toBe(true);
  },
  LONG_MS,
);

it(
  "checks of the page's text compare it as a reader sees it",
  async () => {
    const good = await run("/calm", {
      assertions: [
        "body does not contain 'NaN'",
        "page does not contain 'NaN'",
        "title is not empty",
        "'Home' is visible",
      ],
    });
    expect(good.data["passed"], good.text).toBe(true);
    const bad = await run("/nan", {
      assertions: ["body does not contain 'NaN'", "page does not contain 'NaN'", "title is empty"],
    });
    expect(bad.data["assertions"]).toMatchObject([
      { passed: false },
      { passed: false },
      { passed: false },
    ]);
    expect(bad.text).not.toContain("Choose one");
  },
  LONG_MS,
);

it(
  "the time limit of a run begins when its page is open, not when its browser starts",
  async (ctx) => {
    if (process.platform === "win32") ctx.skip("needs a shell script");
    const slow = join(await folderOf("slow"), "browser.sh");
    await writeFile(slow, `#!/bin/sh\nsleep 17\nexec "${executablePath}" "$@"\n`);
    await chmod(slow, 0o755);
    const fresh = await serverWith(slow);
    try {
      const given = { assertions: ["h1 is 'Docs'"], timeout_ms: 12_000 };
      const { data, text } = await run("/calm", given, fresh);
      expect(data["passed"], text).toBe(true);
    } finally {
      await fresh.close();
    }
  },
  LONG_MS,
);

describe("a sentence with a word that would be dropped", () => {
  /** Each with a sentence that can be sent instead. */
  const CHECKS: Readonly<Record<string, string>> = {
    "no broken links": "no failed requests",
    "no empty links": "no link 'empty'",
    "no disabled buttons": "no button 'disabled'",
    "no unlabeled fields": "no field 'unlabeled'",
    "no console errors after clicking the Save button": "no console errors",
    "no console errors when scrolling": "no console errors",
    "'Error' is not visible after submitting the form": "'Error' is not visible",
    "'Error' is not visible while loading": "'Error' is not visible",
    "tab 'Details' is active": "tab 'Details' is selected",
    "link 'About' is not active": "link 'About' is selected",
    "'Buy now' is visible above the fold": "'Buy now' is in viewport",
    "nav is visible in the mobile view": "nav is visible",
    "nav is not visible on mobile": "nav is not visible",
    "the green 'Save' button is visible": "expect h1 has style 'color'",
    "first red button is visible": "expect h1 has style 'color'",
    "3 .card are visible": "li count is 3",
    "menu is closed": "dialog 'Settings' is hidden",
    "modal is closed": "dialog 'Settings' is hidden",
    "'Error' is not visible for 2s": "'Error' is not visible",
    "'About' is visible for 5s": "'About' is visible",
    "'Save' is visible if logged in": "'Save' is visible",
    "h1 is displayed correctly": "h1 is displayed",
    "button 'Save' is enabled so that the user can continue": "button 'Save' is enabled",
  };
  const STEPS: Readonly<Record<string, string>> = {
    "click 'Save' until no more items are shown": "click 'Save'",
    "click 'Save' unless it is disabled": "click 'Save'",
    "scroll to bottom until the footer is visible": "scroll to bottom",
    "click the blue button": "expect h1 has style 'color'",
    "set device to iPhone 15": "set cookie",
    "click button 'Save' to submit the form": "click button 'Save'",
  };

  it.each([
    ...Object.entries(CHECKS).map((row) => ["assertions", ...row] as const),
    ...Object.entries(STEPS).map((row) => ["steps", ...row] as const),
  ])("%s: %s is refused, with the sentence to send", async (list, sentence, send) => {
    const given = { assertions: ["h1 is 'Docs'"], [list]: [sentence] };
    const { isError, text } = await run("/calm", given);
    expect(isError, text).toBe(true);
    expect(text).toContain(`${list}[0] cannot be parsed`);
    expect(text).toContain(`for example: ${send}`);
  });

  it(
    "has a sentence in its place that can be sent",
    async () => {
      const sent = [...new Set(Object.values(CHECKS))].filter((one) => !one.endsWith("'color'"));
      const { isError, text } = await run("/calm", {
        assertions: sent.map((one) => `${one} within 1ms`),
      });
      expect(text).not.toContain("cannot be parsed");
      expect(isError).toBe(false);
    },
    LONG_MS,
  );
});
