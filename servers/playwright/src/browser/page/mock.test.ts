import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { sharedSession, site } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";

/** A page that lists the responses to a script of requests. */
const asks = (script: string, more = "") =>
  page(`<h1>Asks</h1><ul></ul><script>
    const show = (text) => { document.querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: text })); };
    const ask = async (path, given) => {
      try {
        const got = await fetch(path, given);
        show(path + " " + got.status + " " + (await got.text()));
      } catch { show(path + " failed"); }
    };
    ${script}</script>${more}`);

const lab = makeTester();
const web = await site({
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
  "/api/users": "from the site",
  "/api/add": "from the site",
  "/api/else": "from the site",
});

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
    const run = async (name: string, content: string) => {
      await writeFile(join(root, name), content);
      const steps = [`use har '${join(root, name)}'`];
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
    for (const kind of ["use har", "mock /u with file"]) {
      const steps = [`${kind} '${join(talk.folder, "d.har")}'`];
      await writeFile(join(talk.folder, "d.har"), '{"log": {"entries": []}}');
      const outside = await talk.call("pw_run_test", { url: `${web.url}/four`, steps });
      expect(outside).toMatchObject({ isError: true, text: expect.stringContaining("outside") });
    }
  });
});
