import { expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { openedFirst, session, site } from "../../test/session.ts";

const talk = openedFirst(() => session({ args: ["--concurrency", "2"] }));
const web = await site({
  "/": page("<h1>Docs</h1>"),
  "/b": page("<h1>Bee</h1>"),
  "/ticks": page("<h1>Docs</h1><script>setInterval(() => 0, 50)</script>"),
});

it("pw_run_suite runs all tests, reports each, and keeps a screenshot of failures", async () => {
  const notes: string[] = [];
  const tests = [
    { name: "home", url: web.url, assertions: ["h1 is 'Docs'"] },
    { name: "bee", url: `${web.url}/b`, assertions: ["h1 is 'Cee' within 100ms"] },
    { name: "nowhere", url: "http://127.0.0.1:1/" },
  ];
  const result = await talk.connected.client.callTool(
    { name: "pw_run_suite", arguments: { tests } },
    { onprogress: ({ message }) => notes.push(message ?? "") },
  );
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

it("pw_run_suite returns finished tests on timeout, and names the others", async () => {
  const short = await session({ args: ["--timeout-ms", "15000"] });
  // Starts a driver and its browser, however long that takes.
  await short.call("pw_run_test", { url: web.url });
  const tests = [
    { name: "home", url: web.url, assertions: ["h1 is 'Docs'"] },
    { name: "slow", url: web.url, steps: ["wait for 60s"] },
  ];
  const answer = await short.good("pw_run_suite", { tests });
  const finished = [{ name: "home", passed: true }];
  expect(answer.data).toMatchObject({ passed: false, not_run: 1, tests: finished });
  const single = await short.call("pw_run_test", {
    url: `${web.url}/ticks`,
    assertions: ["h1 is 'Docs'", "h1 is 'Other' within 60s"],
    timeout_ms: 6_000,
  });
  expect(single.text).toContain("did not end within");
  expect(single.data.assertions).toMatchObject([
    { name: "h1 is 'Docs'", passed: true },
    { passed: false, actual: expect.stringContaining("not decided") },
  ]);
});

it("pw_run_suite parses every sentence before it opens a page", async () => {
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
