import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeAll, describe, expect, it } from "vitest";
import { isLong, rowsOf } from "../../../../vitest.long.ts";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

interface Page {
  readonly page: string;
  readonly device: string;
  readonly changed: boolean;
  readonly error?: string;
  readonly facts?: string[];
  readonly tree?: string[];
  readonly regions?: string[];
  readonly moved?: string[];
  readonly added?: string[];
  readonly gone?: string[];
  readonly measured?: string[];
  readonly ignored?: string[];
}

const BODY = `<main><h1>Lamps</h1><p>Desk lamp, 49 euros.</p>
  <form><label for="count">How many?</label> <input id="count"><button type="button">Order</button></form>
  <ul><li>Fast delivery</li><li>Free returns</li></ul><div style="height:900px"></div><a href="/about">About us</a></main>`;
const edited = (from: string, to: string) => {
  if (!BODY.includes(from)) throw new Error(`no ${from}`);
  return page(BODY.replace(from, to));
};

const SECRET = "hunter22Zq";
let talk: Session;
let old: Site;
beforeAll(async () => {
  process.env.PW_SECRET_TOKEN = SECRET;
  talk = await session({ args: ["--concurrency", "2"] });
  old = await site({ "*": page(BODY) });
});

/** Compares the usual page with another version of it. */
async function compared(html: string, more: Record<string, unknown> = {}) {
  const changed = await site({ "/": html });
  const answer = await talk.good("pw_compare", { before: old.url, after: changed.url, ...more });
  const [first] = answer.data.pages as Page[];
  if (first === undefined) throw new Error(answer.text);
  return { ...answer, page: first };
}

describe("pw_compare", () => {
  it("finds no difference in an unchanged page", async () => {
    const { text, page: only, links } = await compared(page(BODY));
    // Times can differ on a busy machine: they never are a verdict.
    const { measured: _, ...rest } = only;
    expect(rest).toEqual({ page: "/", device: "desktop", changed: false });
    expect(text).toMatch(/^No difference in 1 of 1 page[.;]/);
    expect(links).toEqual([]);
  });

  it("shows a changed text in the tree and in the picture, with links to the pictures", async () => {
    const { text, page: only, links } = await compared(edited("Desk lamp, 49", "Desk lamp, 59"));
    expect(text).toMatch(/^1 of 1 page changed\.\n/);
    expect(only.tree).toEqual([
      '    heading "Lamps" [level=1]',
      "-   paragraph: Desk lamp, 49 euros.",
      "+   paragraph: Desk lamp, 59 euros.",
    ]);
    expect(only.regions).toEqual([
      expect.stringMatching(/^paragraph 'Desk lamp, 59 euros\.' \(\d+,\d+ \d+x\d+, \d+ px\)$/),
    ]);
    expect(only.moved).toBeUndefined();
    expect(links.map(({ name }) => name)).toEqual([
      "home-desktop.actual.png",
      "home-desktop.diff.png",
      "home-desktop.expected.png",
    ]);
  });

  it("finds every kind of difference", async () => {
    let html = BODY;
    for (const [from, to] of [
      ['<label for="count">How many?</label>', "How many?"],
      ["<p>", '<p style="color:#ccc">'],
      ["<h1>", '<h1 style="color:#00f">'],
      ['"/about"', '"/us"'],
      ["<button", '<button style="margin-left:90px"'],
      [
        "<ul>",
        `<!--${"x".repeat(9_000)}--><img alt="Lamp" src="/lamp.png" onerror="1"><script>console.error("no stock");
         setTimeout(() => { throw new Error("late") }, 50)</script><ul>`,
      ],
    ] as const) {
      if (!html.includes(from)) throw new Error(`no ${from}`);
      html = html.replace(from, to);
    }
    const { page: only } = await compared(page(html).replace("<title>Docs", "<title>Lamps"));
    const found = (...lines: RegExp[]) =>
      expect.arrayContaining(lines.map((line) => expect.stringMatching(line)));
    expect(only).toMatchObject({
      changed: true,
      added: found(
        /^a11y violation: label \(critical\) at #count$/,
        /^a11y violation: color-contrast \(serious\)/,
        /^failed request: GET \/lamp\.png \(404\)$/,
        /^console error: no stock$/,
        /^uncaught error: Error: late$/,
      ),
      facts: found(/^title: "Docs" → "Lamps"$/),
      tree: found(/^\+ .*\/url: \/us$/),
      regions: found(/^heading 'Lamps' \(/),
      measured: found(/^weight: \d+ bytes → \d+ bytes$/),
    });
  });

  it("finds what moved, alone or by a new banner above everything", async () => {
    if (isLong) {
      const button = await compared(edited("<button", '<button style="margin-left:90px"'));
      expect(button.page.moved).toContainEqual(
        expect.stringMatching(/^button 'Order' moved by \+90,0 \(/),
      );
    }
    const banner = "<p style='height:50px;background:#eee'>Sale today</p><h1>";
    const { page: only } = await compared(edited("<h1>", banner));
    expect(only.moved).toContainEqual(expect.stringMatching(/ and \d more moved by 0,\+\d+$/));
    // The banner is one region, not the whole page.
    expect(only.regions).toEqual([expect.stringContaining("Sale today")]);
  });

  if (isLong)
    it("loads each version a third time before it reports a time", async () => {
      let loads = 0;
      const slow = await site({
        "/": (_request, response) => {
          loads += 1;
          response.setHeader("content-type", "text/html");
          setTimeout(() => response.end(page(BODY)), loads < 3 ? 5_000 : 0);
        },
      });
      const asked = old.hits.length;
      const answer = await talk.good("pw_compare", { before: slow.url, after: old.url });
      expect(loads, answer.text).toBe(3);
      expect(old.hits.slice(asked).filter((path) => path === "/")).toHaveLength(3);
      expect(answer.text).not.toMatch(/load time: [5-9]\d{3}/);
    });

  if (isLong)
    it("ignores what differs at each load, and says so", async () => {
      let loads = 0;
      const unsteady = (body: string) => () => {
        loads += 1;
        const height = 40 + (loads % 7) * 11;
        return page(
          `<div style="height:${height}px;background:hsl(${(loads % 9) * 40} 80% 40%)">Ad ${loads}</div><p id="p${loads}">Visit ${loads * 7919}</p>
         <style>@keyframes turn { to { transform: rotate(1turn) } } i { display: block; width: 60px; height: 60px; background: linear-gradient(red, blue); animation: turn 1s linear infinite }</style>
         <i></i><canvas width="200" height="60"></canvas><script>const g = document.querySelector("canvas").getContext("2d"); let at = 0;
         (function draw() { g.clearRect(0, 0, 200, 60); g.fillRect((at += 7) % 180, 10, 20, 40); requestAnimationFrame(draw) })()</script>
         <script>console.error("late by " + performance.now()); fetch("/none-${loads}")</script>${body}`,
        );
      };
      const serving = (body: string) => {
        const html = unsteady(body);
        return site({
          "/": (_request, response) => response.setHeader("content-type", "text/html").end(html()),
        });
      };
      const [one, same, other] = [
        await serving(BODY),
        await serving(BODY),
        await serving(BODY.replace("Order", "Buy")),
      ];
      const unchanged = await talk.good("pw_compare", { before: one.url, after: same.url });
      const [first] = unchanged.data.pages as Page[];
      expect(first, unchanged.text).toMatchObject({ changed: false, ignored: expect.any(Array) });
      expect(first?.ignored?.join("\n"), unchanged.text).toMatch(
        /in the picture, what differs at each load: [\s\S]*console error: late by/,
      );
      const changed = await talk.good("pw_compare", { before: one.url, after: other.url });
      const [second] = changed.data.pages as Page[];
      expect(second?.tree, changed.text).toEqual([
        '    textbox "How many?"',
        '-   button "Order"',
        '+   button "Buy"',
      ]);
      expect(second?.regions).toEqual([expect.stringMatching(/^button 'Buy'/)]);
      expect(second?.added).toBeUndefined();
    });

  it("keeps a base before an edit, and compares paths and devices with it later", async () => {
    let body = BODY;
    const app = await site({
      "*": (request, response) =>
        response
          .setHeader("content-type", "text/html")
          .end(request.url === "/about" ? page(body) : page(BODY)),
    });
    const paths = ["", "/about"];
    const devices = rowsOf(["dark", "desktop"], 1);
    const count = devices.length;
    const kept = await talk.good("pw_compare", {
      after: app.url,
      paths,
      devices,
      keep: "main",
    });
    expect(kept.text).toMatch(new RegExp(`^${2 * count} pages loaded; kept as base:main\\.\n`));
    expect(kept.data).toMatchObject({ base: "base:main", changed: 0, not_compared: 0 });
    body = BODY.replace("Free returns", "No returns");
    const asked = app.hits.length;
    const later = await talk.good("pw_compare", { before: "base:main", after: app.url });
    const changed = new RegExp(`^${count} of ${2 * count} pages changed[.;]`);
    expect(later.text).toMatch(changed);
    expect(
      (later.data.pages as Page[])
        .filter(({ changed }) => changed)
        .map(({ page: path, device }) => [path, device]),
    ).toEqual(devices.map((device) => ["/about", device]));
    // A changed page is loaded twice on each device, and a third time where a busy machine sets its times apart.
    const loads = app.hits.slice(asked).filter((path) => path === "/about").length;
    expect(loads, later.text).toBeGreaterThanOrEqual(2 * count);
    expect(loads, later.text).toBeLessThanOrEqual(3 * count);
    const again = await talk.good("pw_compare", {
      before: "base:main",
      after: String(later.data.run_id),
    });
    expect(again.text).toMatch(changed);
  });

  it("compares a run of pw_run_test that kept a capture", async () => {
    const steps = ["fill 'How many?' with '3'"];
    const run = await talk.good("pw_run_test", { url: old.url, steps, evidence: ["capture"] });
    const changed = await site({ "/": edited("Fast delivery", "Slow delivery") });
    const answer = await talk.good("pw_compare", { before: run.data.run_id, after: changed.url });
    expect((answer.data.pages as Page[])[0]?.tree).toEqual([
      "    list:",
      "-     listitem: Fast delivery",
      "+     listitem: Slow delivery",
    ]);
    const wrong = await talk.call("pw_compare", {
      before: run.data.run_id,
      after: changed.url,
      steps: ["reload"],
    });
    expect(wrong).toMatchObject({
      isError: true,
      text: expect.stringContaining("were kept after other steps"),
    });
  });

  it("reports a step that fails only after the change, and pages that cannot be loaded", async () => {
    const changed = await site({ "/": edited("<button", "<button hidden") });
    const steps = ["click button 'Order'"];
    const answer = await talk.good("pw_compare", { before: old.url, after: changed.url, steps });
    const [only] = answer.data.pages as Page[];
    expect(only?.facts).toEqual([
      expect.stringMatching(/^a step failed after: click button 'Order': /),
    ]);
    const away = await talk.good("pw_compare", { before: old.url, after: "http://127.0.0.1:1" });
    expect(away.text).toMatch(/^No difference in 0 of 1 page; 1 not compared\./);
    expect((away.data.pages as Page[])[0]?.error).toContain("cannot be reached");
    if (!isLong) return;
    const none = `${changed.url}/none`;
    const lost = await talk.good("pw_compare", { before: none, after: none });
    expect((lost.data.pages as Page[])[0]?.ignored).toEqual([
      "that it is an error page: status 404 before and after",
    ]);
  });

  it("keeps no base of pages whose steps failed, and leaves the previous one in place", async () => {
    const asked = { after: old.url, keep: "whole" };
    const kept = await talk.good("pw_compare", asked);
    expect(kept.data.base).toBe("base:whole");
    const broken = await talk.good("pw_compare", { ...asked, steps: ["click button 'Nowhere'"] });
    expect(broken.text).toMatch(/^1 page loaded; 1 not compared; base:whole was not kept\./);
    expect(broken.data.base).toBeUndefined();
    const later = await talk.good("pw_compare", {
      before: "base:whole",
      after: kept.data.run_id,
    });
    expect(later.data).toMatchObject({ changed: 0, unchanged: 1 });
  });

  it("never shows a secret, in lines or in kept files", async () => {
    const form = (label: string) =>
      page(
        `<label>${label} <input id="t" oninput="o.textContent = document.title = this.value; console.error(this.value); fetch('/x?' + this.value)"></label><p id="o"></p>`,
      );
    const [a, b] = [await site({ "/": form("Token") }), await site({ "/": form("Token:") })];
    const steps = ["fill '#t' with secret 'TOKEN'".replace("'#t'", "`#t`")];
    const answer = await talk.good("pw_compare", {
      before: a.url,
      after: b.url,
      steps,
      keep: "main",
    });
    expect((answer.data.pages as Page[])[0]?.changed).toBe(true);
    const folder = join(talk.runs, String(answer.data.run_id));
    const names = await readdir(folder);
    expect(names).toContain("home-desktop.after.capture.json");
    for (const name of names.filter((one) => one.endsWith(".json"))) {
      const text = await readFile(join(folder, name), "utf8");
      expect(text, name).not.toContain(SECRET.slice(0, 4));
    }
    expect(JSON.stringify(answer.data) + answer.text).not.toContain(SECRET.slice(0, 4));
    // The field and its copy are covered in the picture.
    const picture = PNG.sync.read(await readFile(join(folder, "home-desktop.after.capture.png")));
    const isMask = (at: number) =>
      picture.data[at] === 255 && picture.data[at + 1] === 0 && picture.data[at + 2] === 255;
    expect(
      Array.from({ length: picture.width * picture.height }, (_, n) => n * 4).filter(isMask).length,
    ).toBeGreaterThan(1_000);
  });

  it("stays within the network boundary", async () => {
    const local = await talk.call("pw_compare", { before: "file:///etc/passwd", after: old.url });
    expect(local).toMatchObject({ isError: true, text: expect.stringContaining("file:") });
    const inner = await talk.good("pw_compare", {
      before: old.url,
      after: "http://169.254.169.254/",
    });
    expect((inner.data.pages as Page[])[0]?.error).toMatch(
      /169\.254\.169\.254.*(?:blocked|refused|not reached)/,
    );
  });

  it.each([
    [{ after: "URL" }, "before is missing."],
    [{ before: "base:none", after: "URL" }, 'There is no base "none".'],
    [{ before: "base:../x", after: "URL" }, 'There is no base "../x".'],
    [{ before: "20260101-000000-00000000", after: "URL" }, "There is no run"],
    [
      { before: "somewhere", after: "URL" },
      'before "somewhere" is not a URL, a run_id or base:NAME.',
    ],
    [{ before: "URL", after: "URL", keep: "../x" }, 'keep "../x" is not a valid name.'],
    [{ before: "URL", after: "URL", paths: ["http://elsewhere.test/"] }, "is not a path."],
    [{ before: "URL", after: "URL", devices: ["iPhone 99"] }, "iPhone 99"],
    [{ before: "URL", after: "URL", steps: ["clack 'x'"] }, "clack"],
    [
      { before: "URL", after: "URL", paths: Array.from({ length: 61 }, (_, n) => `/${n}`) },
      "at most 60 are allowed",
    ],
  ])("refuses %j before it opens a page", async (given, message) => {
    const asked = old.hits.length;
    const args = JSON.parse(JSON.stringify(given).replaceAll('"URL"', JSON.stringify(old.url)));
    const answer = await talk.call("pw_compare", args);
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(message) });
    expect(old.hits.length).toBe(asked);
  });

  if (isLong)
    it("compares the first pages before it loads the last ones, so that a time limit leaves their results", async () => {
      let first: () => void = () => undefined;
      const compared = new Promise<void>((resolve) => {
        first = resolve;
      });
      const last = (_: unknown, response: ServerResponse) =>
        void compared.then(() => response.end(page(BODY)));
      const [a, b] = [
        await site({ "*": page(BODY), "/5": last }),
        await site({ "*": page(BODY), "/5": last }),
      ];
      const paths = Array.from({ length: 6 }, (_, n) => `/${n}`);
      const { structuredContent } = await talk.connected.client.callTool(
        {
          name: "pw_compare",
          arguments: { before: a.url, after: b.url, paths, timeout_ms: 300_000 },
        },
        { onprogress: () => first() },
      );
      expect(structuredContent).toMatchObject({ unchanged: 6, not_compared: 0 });
    });

  it("bounds the answer, and keeps all of it in report.json", async () => {
    const list = (word: string) =>
      page(
        `<ul>${Array.from({ length: 90 }, (_, n) => `<li>${word} number ${n}${" with a few more words".repeat(8)}</li>`).join("")}</ul>`,
      );
    const [a, b] = [await site({ "*": list("Item") }), await site({ "*": list("Thing") })];
    const answer = await talk.good("pw_compare", { before: a.url, after: b.url });
    expect(answer.text.length).toBeLessThanOrEqual(20_000);
    expect(JSON.stringify(answer.data).length).toBeLessThanOrEqual(20_000);
    expect(answer.text).toMatch(/\d+ more lines in the run's report\.json/);
    const report = await readFile(
      join(talk.runs, String(answer.data.run_id), "report.json"),
      "utf8",
    );
    expect(report).toContain("Thing number 89");
  });
});
