import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { openedFirst, site } from "../../test/session.ts";

const talk = openedFirst();
const web = await site({
  "/": page("<h1>Docs</h1>"),
  "/bad": page("<h1>Other</h1><script>console.error('it hurts')</script>"),
  "/cancelled": page("<h1>Long</h1>"),
  "/sized": page("<h1>Sized</h1><script>document.title = innerWidth</script>"),
});

it("pw_run_test answers as documented", async () => {
  const args = { url: web.url, assertions: ["h1 contains 'Docs'", "no console errors"] };
  const { client } = talk.connected;
  const result = await client.callTool({ name: "pw_run_test", arguments: args });
  const [text, link] = result.content;
  if (text?.type !== "text") throw new Error("the first block is not a text");
  expect(text.text.startsWith("All checks passed (2 assertions). See screenshot.")).toBe(true);
  if (link?.type !== "resource_link") throw new Error("the second block is not a link");
  expect(link).toMatchObject({
    type: "resource_link",
    uri: expect.stringMatching(/^file:\/\/\/.*\/home\.png$/),
    name: "home.png",
    mimeType: "image/png",
  });
  expect(result.content).toHaveLength(2);
  expect(result.structuredContent).toMatchObject({
    url: web.url,
    assertions: [
      { name: "h1 contains 'Docs'", passed: true },
      { name: "no console errors", passed: true },
    ],
    durationMs: expect.any(Number),
  });
  expect(result.isError).toBe(false);
  const path = fileURLToPath(link.uri);
  expect(text.text.split("\n").at(-1), "some hosts drop links").toBe(path);
  expect(readFileSync(path).subarray(1, 4).toString("latin1")).toBe("PNG");
  expect(JSON.stringify(result).length).toBeLessThan(1_500);
});

it("pw_run_test returns a failed check as a finished run, with the actual value", async () => {
  const assertions = ["h1 contains 'Docs' within 100ms", "title is 'Docs'"];
  const answer = await talk.good("pw_run_test", { url: `${web.url}/bad`, assertions });
  expect(answer.data).toMatchObject({ passed: false, status: 200, title: "Docs" });
  const [head, line] = answer.text.split("\n");
  expect(head).toBe("1 of 2 checks FAILED:");
  expect(line).toMatch(/^✗ h1 contains 'Docs' within 100ms: .*Other/);
  expect(answer.text).toContain("console error: it hurts");
});

it("pw_run_test returns a run without a verdict as an error with the same fields", async () => {
  for (const [args, said] of [
    [{ assertions: ["h1 contans 'Docs'"] }, /cannot be parsed/],
    [{ url: "file:///etc/passwd" }, /file: is not allowed/],
    [{ url: "http://127.0.0.1:1/" }, /127\.0\.0\.1:1/],
  ] as const) {
    const base = { url: web.url, assertions: ["h1 exists"] };
    const answer = await talk.call("pw_run_test", { ...base, ...args });
    expect(answer.isError, answer.text).toBe(true);
    expect(answer.text).toMatch(said);
    expect(answer.data).toMatchObject({
      passed: false,
      durationMs: expect.any(Number),
      assertions: [{ passed: false }],
      error: expect.stringMatching(said),
    });
  }
});

it("pw_run_test runs on all devices in parallel, and names the device of a failed check", async () => {
  const answer = await talk.good("pw_run_test", {
    url: `${web.url}/sized`,
    devices: ["desktop", "400x300"],
    assertions: ["title is '400' within 100ms"],
  });
  expect(answer.data.assertions).toEqual([
    expect.objectContaining({ passed: false, device: "desktop" }),
    expect.objectContaining({ passed: true, device: "400x300" }),
  ]);
  expect(answer.text).toContain("✗ title is '400' within 100ms [desktop]");
  const names = answer.links.map(({ name }) => name).sort();
  expect(names).toEqual(["sized-400x300.png", "sized-desktop.png"]);
});

it("pw_run_test keeps only the requested evidence", async () => {
  const full = await talk.good("pw_run_test", {
    url: web.url,
    steps: ["screenshot 'Before: all'"],
    evidence: ["full_page", "trace", "har"],
  });
  const names = ["home-before-all.png", "home.har", "home.png", "home.trace.zip"];
  expect(full.links.map(({ uri }) => basename(uri)).sort()).toEqual(names);
  const fine = await talk.good("pw_run_test", { url: web.url, evidence: ["on_failure"] });
  expect(fine.links).toEqual([]);
});

it("pw_run_test stops when the caller cancels, and the next run works", async () => {
  const stop = new AbortController();
  const long = { url: `${web.url}/cancelled`, steps: ["wait for 60s"], timeout_ms: 80_000 };
  const running = talk.call("pw_run_test", long, stop.signal);
  running.catch(() => undefined);
  await expect.poll(() => web.hits.includes("/cancelled")).toBe(true);
  stop.abort();
  await expect(running).rejects.toThrow();
  const next = { url: web.url, assertions: ["h1 is 'Docs'"] };
  expect((await talk.good("pw_run_test", next)).data.passed).toBe(true);
  const reports = (await readdir(talk.runs)).map((id) => join(talk.runs, id, "report.json"));
  expect(reports.filter((path) => readFileSync(path, "utf8").includes("/cancelled"))).toEqual([]);
});
