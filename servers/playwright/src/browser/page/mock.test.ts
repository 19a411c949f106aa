import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../../../../../vitest.long.ts";
import { page, type Site } from "../../../test/lab.ts";
import { sharedSession, site } from "../../../test/session.ts";
import { makeTester, type TestTester } from "../../../test/testers.ts";
import { exportSpec } from "../export/spec.ts";

/** A page that lists the responses to a script of requests. */
const asks = (script: string, more = "") =>
  page(`<h1>Asks</h1><ul></ul><label>Token <input oninput="search(this.value)"></label><script>
    const show = (text) => { document.querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: text })); };
    const ask = async (path, given) => {
      try {
        const got = await fetch(path, given);
        show(path + " " + got.status + " " + (await got.text()));
      } catch { show(path + " failed"); }
    };
    const search = (text) => ask("/search?q=" + text);
    ${script}</script>${more}`);

let web: Site;
let lab: TestTester;
beforeAll(async () => {
  lab = await makeTester();
  web = await site({
    "/two": asks("ask('/api/one'); ask('/api/two')"),
    "/late": asks("ask('/api/late')"),
    "/app": asks("", '<script src="/app.js"></script>'),
    "/har": asks(
      `(async () => {
        await ask("/api/users"); await ask("/api/users"); await ask("/api/users");
        await ask("/api/add", { method: "POST", body: "lamp" });
        await ask("/api/add", { method: "POST", body: "chair" });
        await ask("/api/else");
        show("done");
      })()`,
      '<img src="/dot.png" alt="Dot">',
    ),
    "/form": asks(""),
    "/app.js": "show('the site')",
    "/search": "no recording",
    "/api/n": "ok",
    "/api/one": "ok",
    "/api/two": (_request, response) => setTimeout(() => response.end("ok"), 300),
    "/api/late": "late",
    "/api/users": "from the site",
    "/api/add": "from the site",
    "/api/else": "from the site",
  });
});
afterAll(() => lab?.close());

const file = async (name: string, content: string) => {
  const path = join(lab.folder, name);
  await writeFile(path, content);
  return path;
};

/** The list of a page after steps. */
async function listed(path: string, ...steps: string[]): Promise<string[]> {
  const report = await lab.run({
    url: web.url + path,
    steps: [...steps, "wait for network idle"],
    look: { limit: 10, budget: 10_000 },
  });
  expect(report.failed_step).toBeUndefined();
  return [...(report.seen?.snapshot ?? "").matchAll(/listitem(?: \[\w+\])*: (.*)$/gm)].map(
    ([, text = ""]) => text.replace(/^"|"$/g, ""),
  );
}

describe.concurrent("routes", () => {
  if (isLong)
    it("delay a response, and the checks wait for it", async () => {
      const order = async (...steps: string[]) =>
        (await listed("/two", ...steps)).map((line) => line.split(" ")[0]);
      expect(await order()).toEqual(["/api/one", "/api/two"]);
      expect(await order("mock /api/one with 'x' after 2s")).toEqual(["/api/two", "/api/one"]);
      const { assertions } = await lab.run({
        url: `${web.url}/late`,
        steps: ["mock /api/late with 'late' after 4s"],
        assertions: ["no 'late'"],
      });
      expect(assertions[0]).toMatchObject({ passed: false });
    });

  it("replace a script with a file", async () => {
    const mine = await file("app.js", "show('mine')");
    expect(await listed("/app")).toEqual(["the site"]);
    expect(await listed("/app", `mock **/app.js with file '${mine}'`)).toEqual(["mine"]);
  });

  it("replay a HAR: by method, URL and body; other requests go to the server", async () => {
    const entry = (
      method: string,
      path: string,
      content: object,
      more: object = {},
      status = 200,
    ) => ({
      request: { method, url: web.url + path, headers: [], ...more },
      response: {
        status,
        headers: [
          { name: "Content-Encoding", value: "br" },
          { name: "X-From", value: "har" },
        ],
        content,
      },
    });
    const json = (text: string) => ({ mimeType: "application/json", text });
    const dot = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    const entries = [
      entry("GET", "/api/users", json("first"), {}, 418),
      entry("POST", "/api/add", json("added a chair"), { postData: { text: "chair" } }),
      entry("GET", "/dot.png", { mimeType: "image/gif", text: dot, encoding: "base64" }),
    ];
    const har = await file("shop.har", JSON.stringify({ log: { entries } }));
    const before = web.hits.length;
    expect(await listed("/har", `use har '${har}'`)).toEqual([
      "/api/users 418 first",
      "/api/users 418 first",
      "/api/users 418 first",
      "/api/add 200 from the site",
      "/api/add 200 added a chair",
      "/api/else 200 from the site",
      "done",
    ]);
    expect(web.hits.slice(before)).not.toContain("/api/users");
    const report = await lab.run({
      url: `${web.url}/har`,
      steps: [`use har '${har}'`],
      assertions: ["no broken images", "response /api/users status is 418"],
    });
    expect(report).toMatchObject({ passed: true });
  });

  it("refuse what is not a recording, and files that the server may not read", async () => {
    const talk = await sharedSession();
    const root = join(talk.folder, "root");
    const run = async (name: string, content: string, folder = root) => {
      await writeFile(join(folder, name), content);
      const steps = [`use har '${join(folder, name)}'`];
      return talk.call("pw_run_test", { url: `${web.url}/four`, steps });
    };
    expect((await run("a.har", '{"log": {}}')).text).toContain("is not a HAR file");
    expect((await run("b.har", "PK zip")).text).toContain("is not a HAR file");
    // Its bodies could be in any other file.
    const content = { _file: "../../../etc/passwd" };
    const elsewhere = {
      request: { method: "GET", url: `${web.url}/form`, headers: [] },
      response: { status: 200, headers: [], content },
    };
    const other = await run("c.har", JSON.stringify({ log: { entries: [elsewhere] } }));
    expect(other.text).toContain("has its bodies in other files");
    const outside = await run("d.har", '{"log": {"entries": []}}', talk.folder);
    expect(outside).toMatchObject({ isError: true, text: expect.stringContaining("outside") });
  });

  it("are lines of a spec", () => {
    const spec = exportSpec({
      title: "routes",
      url: "http://shop.example/",
      steps: [
        "use har 'shop.har'",
        "block POST /api/items",
        "mock **/app.js with file 'app.js'",
        "mock /api/users with '[]' after 500ms",
      ],
      assertions: [],
      device: undefined,
    });
    expect(spec.split("\n").slice(5, -3).join("\n")).toMatchInlineSnapshot(`
      "  await page.context().routeFromHAR("shop.har", { notFound: "fallback" });
        await page.context().route(/^(?:[a-z]+:\\/\\/[^/]+)?\\/api\\/items(?:\\?.*)?$/su, async (route) => {
          if (route.request().method() !== "POST") return route.fallback();
          return route.abort();
        });
        await page.context().route(/^.*\\/app\\.js(?:\\?.*)?$/su, async (route) => {
          return route.fulfill({ status: 200, path: "app.js" });
        });
        await page.context().route(/^(?:[a-z]+:\\/\\/[^/]+)?\\/api\\/users(?:\\?.*)?$/su, async (route) => {
          await new Promise((done) => setTimeout(done, 500));
          return route.fulfill({ status: 200, contentType: "application/json", body: "[]" });
        });"
    `);
  });
});
