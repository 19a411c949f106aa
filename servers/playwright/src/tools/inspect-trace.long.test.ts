import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { trace } from "../../test/fixture.ts";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

let web: Site;
let talk: Session;
beforeAll(async () => {
  web = await site({
    "/": page(
      "<h1>Docs</h1><button>Go</button><script>console.error('it hurts'); fetch('/gone')</script>",
    ),
  });
  talk = await session();
});

describe("pw_inspect_trace", () => {
  it("reports what our run did", async () => {
    const run = await talk.good("pw_run_test", {
      url: web.url,
      steps: ["click button 'Go'"],
      evidence: ["trace"],
    });
    const { text } = await talk.good("pw_inspect_trace", { run_id: run.data.run_id });
    expect(text).toMatch(/\bgoto\b/i);
    expect(text).toMatch(/\bclick\b/i);
    expect(text).toContain("it hurts");
    expect(text).toMatch(/\/gone: 404/);
  });

  it("reads a trace in an allowed folder, and shows the last actions", async () => {
    const path = join(talk.folder, "root", "trace.zip");
    await writeFile(path, trace());
    const whole = await talk.good("pw_inspect_trace", { path });
    expect(whole.text).toContain("Timeout 5000ms exceeded.");
    expect(whole.text).toContain("http://site.test/in");
    const last = await talk.good("pw_inspect_trace", { path, limit: 1 });
    expect(last.text).toContain("click");
    expect(last.text).not.toContain("1. goto");
  });

  it("refuses a file that is not a trace, is outside the allowed directories, or does not exist", async () => {
    const root = join(talk.folder, "root");
    await writeFile(join(root, "no.zip"), "no zip");
    await writeFile(join(talk.folder, "outside.zip"), trace());
    const run = await talk.good("pw_run_test", { url: web.url });
    for (const [given, said] of [
      [{ path: join(root, "no.zip") }, /no\.zip/],
      [{ path: join(talk.folder, "outside.zip") }, /outside/],
      [{ run_id: run.data.run_id }, /has no trace/],
      [{}, /Neither run_id nor path/],
    ] as const) {
      const answer = await talk.call("pw_inspect_trace", given);
      expect(answer.isError, JSON.stringify(given)).toBe(true);
      expect(answer.text).toMatch(said);
    }
  });
});
