import { expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { openedFirst, session, site } from "../../test/session.ts";
import { comparison } from "../browser/compare/compare.ts";

// In the dark, no paragraph is shown.
const BODY = `<style>@media (prefers-color-scheme: dark) { p { display: none } }</style><main><h1>Lamps</h1><p>Desk lamp, 49 euros.</p>
  <form><label for="count">How many?</label> <input id="count"><button type="button">Order</button></form>
  <ul><li>Fast delivery</li><li>Free returns</li></ul><div style="height:900px"></div><a href="/about">About us</a></main>`;
const edited = (from: string, to: string) => page(BODY.replace(from, to));

const talk = openedFirst(() => session({ args: ["--concurrency", "2"] }));
let html = page(BODY);
const app = await site({
  "*": (request, response) =>
    request.url?.endsWith(".png")
      ? response.writeHead(404).end()
      : response.setHeader("content-type", "text/html").end(html),
});

/** Keeps a page as the base, and compares its next version. */
async function compared(next: string, devices = ["desktop"]) {
  html = page(BODY);
  const base = await talk.good("pw_compare", { url: app.url, devices, keep: true });
  expect(base.text).toMatch(/^\d pages? loaded; main is kept\.\n/);
  html = next;
  const answer = await talk.good("pw_compare", { url: app.url });
  const [first] = comparison.parse(answer.data).pages;
  if (first === undefined) throw new Error(answer.text);
  return { ...answer, page: first };
}

it("pw_compare shows a changed text in the tree and the picture, on the device that has it, with links to the pictures", async () => {
  const { text, page: only, links } = await compared(edited("49", "59"), ["desktop", "dark"]);
  expect(text).toMatch(/^1 of 2 pages changed\.\n\/ \[desktop\]: changed\n/);
  expect(only.lines).toEqual([
    '    heading "Lamps" [level=1]',
    "-   paragraph: Desk lamp, 49 euros.",
    "+   paragraph: Desk lamp, 59 euros.",
  ]);
  expect(only.regions?.join()).toMatch(/^\d+ px differ, from row \d+ to \d+ of \d+$/);
  const pictures = ["actual", "diff", "expected"].map((kind) => `home-desktop.${kind}.png`);
  expect(links.map(({ name }) => name)).toEqual(pictures);
});

it("pw_compare finds every kind of difference", async () => {
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
    html = html.replace(from, to);
  }
  const { page: only } = await compared(page(html).replace("<title>Docs", "<title>Lamps"));
  const including = (...lines: RegExp[]) =>
    expect.arrayContaining(lines.map((line) => expect.stringMatching(line)));
  expect(only).toMatchObject({
    changed: true,
    lines: including(
      /^\+ a11y violation: label \(critical\) at #count$/,
      /^\+ a11y violation: color-contrast \(serious\)/,
      /^\+ failed request: GET \/lamp\.png \(404\)$/,
      /^\+ console error: no stock$/,
      /^\+ uncaught error: Error: late$/,
      /^- title: Docs$/,
      /^\+ title: Lamps$/,
      /^\+ .*\/url: \/us$/,
    ),
    regions: including(/ px differ/),
  });
});

it("pw_compare loads paths on a device with a base, each changed page twice", async () => {
  let about = page(BODY);
  const paged = await site({
    "*": (request, response) =>
      response
        .setHeader("content-type", "text/html")
        .end(request.url === "/about" ? about : page(BODY)),
  });
  const args = { paths: ["", "/about"], devices: ["dark"], base: "two" };
  const first = await talk.good("pw_compare", { url: paged.url, ...args, keep: true });
  expect(first.text).toMatch(/^2 pages loaded; two is kept\.\n/);
  about = edited("Free returns", "No returns");
  const asked = paged.hits.length;
  const later = await talk.good("pw_compare", { url: paged.url, base: "two" });
  expect(later.text).toMatch(/^1 of 2 pages changed\./);
  const changed = comparison.parse(later.data).pages.filter((entry) => entry.changed);
  const pages = changed.map(({ page: path, device }) => `${path} ${device}`);
  expect(pages).toEqual(["/about dark"]);
  expect(paged.hits.slice(asked).filter((path) => path === "/about")).toHaveLength(2);
  const other = await talk.call("pw_compare", { url: paged.url, base: "two", paths: ["/us"] });
  expect(other.text).toContain("has no /us");
  const steps = await talk.call("pw_compare", { url: paged.url, base: "two", steps: ["reload"] });
  expect(steps.text).toContain("was kept after other steps");
});

it.each([
  [{ base: "none" }, 'There is no base "none".'],
  [{ base: "../x" }, 'base "../x" is not a valid name.'],
  [{ keep: true, paths: ["http://elsewhere.test/"] }, "is not a path."],
  [{ keep: true, paths: Array.from({ length: 61 }, (_, n) => `/${n}`) }, "At most 60 pages"],
])("pw_compare refuses %j before it opens a page", async (args, message) => {
  const asked = app.hits.length;
  const answer = await talk.call("pw_compare", { url: app.url, ...args });
  expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(message) });
  expect(app.hits.length).toBe(asked);
});
