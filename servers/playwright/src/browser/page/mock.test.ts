import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { sharedSession, site } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";

const lab = makeTester();
const web = await site({
  // Lists the responses to its requests.
  "/har": page(`<ol></ol><img src="/dot.png" alt="Dot"><script>
    const ask = async (path, given) => {
      const got = await fetch(path, given);
      document.querySelector("ol").innerHTML += "<li>" + path + " " + got.status + " " + (await got.text());
    };
    (async () => {
      await ask("/api/users"); await ask("/api/users");
      await ask("/api/add", { method: "POST", body: "lamp" });
      await ask("/api/add", { method: "POST", body: "chair" });
      await ask("/api/else");
    })()</script>`),
  "/api/users": "from the site",
  "/api/add": "from the site",
  "/api/else": "from the site",
});

it("routes replay a HAR: by method, URL and body; other requests go to the server", async () => {
  const entry = (method: string, path: string, content: object, status = 200, more = {}) => ({
    request: { method, url: web.url + path, headers: [], ...more },
    response: { status, headers: [{ name: "Content-Encoding", value: "br" }], content },
  });
  const json = (text: string) => ({ mimeType: "application/json", text });
  const dot = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
  const entries = [
    entry("GET", "/api/users", json("first"), 418),
    entry("POST", "/api/add", json("added a chair"), 200, { postData: { text: "chair" } }),
    entry("GET", "/dot.png", { mimeType: "image/gif", text: dot, encoding: "base64" }),
  ];
  const har = join(lab.folder, "shop.har");
  await writeFile(har, JSON.stringify({ log: { entries } }));
  const before = web.hits.length;
  const list = ["users 418 first", "users 418 first", "add 200 from the site"];
  const whole = [...list, "add 200 added a chair", "else 200 from the site"];
  const report = await lab.run({
    url: `${web.url}/har`,
    steps: [`use har '${har}'`],
    assertions: [
      `ol is '${whole.map((line) => `/api/${line}`).join("")}'`,
      ...["no broken images", "response /api/users status is 418"],
    ],
  });
  expect(report.assertions.filter(({ passed }) => !passed)).toEqual([]);
  expect(web.hits.slice(before)).not.toContain("/api/users");
});

it("routes refuse what is not a recording, and files that the server may not read", async () => {
  const talk = await sharedSession();
  const root = join(talk.folder, "root");
  const run = async (name: string, content: string) => {
    await writeFile(join(root, name), content);
    const steps = [`use har '${join(root, name)}'`];
    return talk.call("pw_run_test", { url: web.url, steps });
  };
  expect((await run("a.har", '{"log": {}}')).text).toContain("is not a HAR file");
  expect((await run("b.har", "PK zip")).text).toContain("is not a HAR file");
  // Its bodies could be in any other file.
  const content = { _file: "../../../etc/passwd" };
  const elsewhere = {
    request: { method: "GET", url: `${web.url}/x`, headers: [] },
    response: { status: 200, headers: [], content },
  };
  const other = await run("c.har", JSON.stringify({ log: { entries: [elsewhere] } }));
  expect(other.text).toContain("has its bodies in other files");
  await writeFile(join(talk.folder, "d.har"), '{"log": {"entries": []}}');
  for (const kind of ["use har", "mock /u with file"]) {
    const steps = [`${kind} '${join(talk.folder, "d.har")}'`];
    const outside = await talk.call("pw_run_test", { url: web.url, steps });
    expect(outside).toMatchObject({ isError: true, text: expect.stringContaining("outside") });
  }
});
