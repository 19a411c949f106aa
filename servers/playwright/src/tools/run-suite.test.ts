import { beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../../../../vitest.long.ts";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

let web: Site;
let talk: Session;
beforeAll(async () => {
  web = await site({
    "/": page("<h1>Docs</h1>"),
    "/b": page("<h1>Bee</h1>"),
    "/ticks": page("<h1>Docs</h1><script>setInterval(() => 0, 50)</script>"),
  });
  talk = await session({ args: ["--concurrency", "2"] });
});

describe("pw_run_suite", () => {
  it("runs all tests, reports each, and keeps a screenshot of failures", async () => {
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

  if (isLong)
    it("a page that cannot be tested does not affect the other verdicts", async () => {
      const hostile = await site({
        "/reload": page("<h1>Docs</h1><script>setTimeout(() => location.reload(), 30)</script>"),
        "/refresh": page("<h1>Docs</h1>", "<meta http-equiv=refresh content=0>"),
        "/spin": page(
          "<h1>Docs</h1><script>addEventListener('load', () => { for (;;) history.pushState(0, '', '?' + Math.random()) })</script>",
        ),
      });
      const tests = ["/reload", "/refresh", "/spin"].map((path) => ({
        name: path,
        url: hostile.url + path,
        assertions: ["no broken images", "h1 is 'Docs'"],
      }));
      const wide = await session({ args: ["--concurrency", "4"] });
      const answer = await wide.good("pw_run_suite", {
        tests: [...tests, { name: "home", url: web.url, assertions: ["h1 is 'Docs'"] }],
        timeout_ms: 15_000,
      });
      expect(answer.text).not.toMatch(/fault|internal error/i);
      expect(answer.data).toMatchObject({ not_run: 0 });
      expect(answer.data.tests).toHaveLength(4);
      expect(answer.data.tests).toContainEqual(
        expect.objectContaining({ name: "home", passed: true }),
      );
    });

  it("returns finished tests on timeout, and names the others", async () => {
    const short = await session({ args: ["--timeout-ms", "15000"] });
    // Starts a driver and its browser, however long that takes.
    await short.call("pw_run_test", { url: web.url });
    const tests = [
      { name: "home", url: web.url, assertions: ["h1 is 'Docs'"] },
      { name: "slow", url: web.url, steps: ["wait for 60s"] },
    ];
    const answer = await short.good("pw_run_suite", { tests });
    expect(answer.data).toMatchObject({
      passed: false,
      not_run: 1,
      tests: [{ name: "home", passed: true }],
    });
    const single = await short.call("pw_run_test", {
      url: `${web.url}/ticks`,
      assertions: ["h1 is 'Docs'", "h1 is 'Other' within 60s"],
      timeout_ms: 10_000,
    });
    expect(single).toMatchObject({
      isError: true,
      text: expect.stringContaining("did not end within"),
    });
    expect(single.data.assertions).toEqual([
      { name: "h1 is 'Docs'", passed: true },
      {
        name: "h1 is 'Other' within 60s",
        passed: false,
        actual: expect.stringContaining("not decided"),
      },
    ]);
  });

  if (isLong)
    it("a test that waited for its turn ends before the call's time limit", async () => {
      const one = await session({ args: ["--concurrency", "1", "--timeout-ms", "9000"] });
      // Starts a driver and its browser, however long that takes.
      await one.call("pw_run_test", { url: web.url });
      const slow = { url: web.url, steps: ["wait for 60s"] };
      const first = one.call("pw_run_test", { ...slow, timeout_ms: 3_000 });
      const second = await one.call("pw_run_test", { ...slow, timeout_ms: 60_000 });
      expect((await first).text).toContain("did not end within 3000 ms");
      expect(second.text).toMatch(
        /did not end within \d+ ms\.\nThe call had no more time left: it waited/,
      );
    });

  it("parses every sentence before it opens a page", async () => {
    const answer = await talk.call("pw_run_suite", {
      tests: [
        { name: "home", url: `${web.url}/unread`, assertions: ["h1 is 'Docs'"] },
        { name: "slip", url: web.url, assertions: ["h1 contans 'x'"] },
      ],
    });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('tests[1] "slip"');
    expect(web.hits).not.toContain("/unread");
  });

  it("accepts at most a hundred tests", async () => {
    const tests = Array.from({ length: 101 }, (_, n) => ({ name: `${n}`, url: web.url }));
    const answer = await talk.call("pw_run_suite", { tests });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("At most 100 tests");
  });
});
