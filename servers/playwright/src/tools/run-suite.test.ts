import { beforeAll, describe, expect, it } from "vitest";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

let web: Site;
let talk: Session;
beforeAll(async () => {
  web = await site({ "/": page("<h1>Docs</h1>"), "/b": page("<h1>Bee</h1>") });
  talk = await session({ args: ["--concurrency", "2"] });
});

describe("pw_run_suite", () => {
  it("runs all tests, tells each, and keeps a screenshot of those that fail", async () => {
    const notes: string[] = [];
    const result = await talk.connected.client.callTool(
      {
        name: "pw_run_suite",
        arguments: {
          tests: [
            { name: "home", url: web.url, assertions: ["h1 is 'Docs'"] },
            { name: "bee", url: `${web.url}/b`, assertions: ["h1 is 'Cee' within 100ms"] },
            { name: "nowhere", url: "http://127.0.0.1:1/" },
          ],
        },
      },
      { onprogress: ({ message }) => notes.push(message ?? "") },
    );
    expect(result.isError ?? false).toBe(false);
    expect(result.structuredContent).toMatchObject({
      passed: false,
      failed: 2,
      not_run: 0,
      tests: [
        { name: "home", passed: true },
        { name: "bee", passed: false, failures: [expect.stringContaining("Bee")] },
        { name: "nowhere", passed: false, failures: [expect.stringContaining("127.0.0.1:1")] },
      ],
    });
    expect(notes.sort()).toEqual(["bee failed", "home passed", "nowhere failed"]);
    expect(result.content.filter(({ type }) => type === "resource_link")).toEqual([
      expect.objectContaining({ name: "b.png" }),
    ]);
  });

  it("stops after the first that fails, where it is told to", async () => {
    const tests = [
      { name: "bad", url: web.url, assertions: ["h1 is 'x' within 50ms"] },
      ...Array.from({ length: 12 }, (_, n) => ({ name: `slow ${n}`, url: web.url, steps: ["wait for 20s"] })),
    ];
    const { data } = await talk.good("pw_run_suite", { tests, bail: true });
    expect(data).toMatchObject({ passed: false, failed: 1, not_run: 12 });
  });

  it("reads every sentence before it opens a page", async () => {
    const before = web.hits.length;
    const answer = await talk.call("pw_run_suite", {
      tests: [
        { name: "home", url: web.url, assertions: ["h1 is 'Docs'"] },
        { name: "slip", url: web.url, assertions: ["h1 contans 'x'"] },
      ],
    });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('tests[1] "slip"');
    expect(web.hits.length).toBe(before);
  });

  it("takes a hundred tests at most", async () => {
    const tests = Array.from({ length: 101 }, (_, n) => ({ name: `${n}`, url: web.url }));
    const answer = await talk.call("pw_run_suite", { tests });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("There are 101 tests; at most 100");
  });
});
