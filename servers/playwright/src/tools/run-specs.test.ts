import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunning } from "@refmcp/testing";
import { beforeAll, expect, it } from "vitest";
import { ensureBrowser } from "../../test/browser.mjs";
import { project } from "../../test/fixture.ts";
import { page } from "../../test/lab.ts";
import { folderOf, type Session, session, site } from "../../test/session.ts";

let talk: Session;
let home: string;

beforeAll(async () => {
  const web = await site({ "/": page("<h1>Docs</h1>") });
  const evidence = { trace: "retain-on-failure", screenshot: "only-on-failure" };
  const use = { launchOptions: await ensureBrowser(), ...evidence };
  process.env.PW_SECRET_PIN = "48151623";
  home = await project(await folderOf("specs"), {
    "playwright.config.js": `export default { workers: 1, timeout: 60_000, use: ${JSON.stringify(use)} };\n`,
    "page.spec.js": `import { expect, test } from "playwright/test";
test("has a heading", async ({ page }) => {
  await page.goto("${web.url}");
  await expect(page.locator("h1")).toHaveText("Docs");
});
test("has another", async ({ page }) => {
  await page.goto("${web.url}");
  await expect(page.locator("h1")).toHaveText("Other " + process.env.PW_SECRET_PIN, { timeout: 200 });
});
`,
    "slow.spec.js": `import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "playwright/test";
test("never ends", async () => {
  test.setTimeout(0);
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  writeFileSync("pids.txt", [process.pid, child.pid].join(" "));
  await new Promise(() => {});
});
`,
  });
  talk = await session({ args: ["--project", home] });
});

it("pw_run_specs runs the user's specs, reports progress, and keeps failures", async () => {
  const notes: string[] = [];
  const result = await talk.connected.client.callTool(
    { name: "pw_run_specs", arguments: { files: ["page.spec.js"] } },
    { onprogress: ({ message }) => notes.push(message ?? "") },
  );
  const { structuredContent: data, content } = result;
  expect(data).toMatchObject({
    passed: false,
    summary: "1 passed, 1 failed",
    failures: [{ test: "page.spec.js:6 has another", error: expect.stringContaining("Docs") }],
  });
  expect(notes.join("\n")).toMatch(/passed .*has a heading[\s\S]*failed .*has another/);
  const names = content.flatMap((block) => (block.type === "resource_link" ? [block.name] : []));
  expect(names.some((name) => name.endsWith(".png"))).toBe(true);
  // It would have the secret.
  expect(names.some((name) => name.endsWith(".zip"))).toBe(false);
  expect(JSON.stringify(data)).toContain("trace.zip (it could show a secret)");
  expect(JSON.stringify(result), "a secret that a spec shows").not.toContain("48151623");
  const runId = Object(data).run_id;
  expect((await talk.good("pw_view_artifact", { run_id: runId })).images).toHaveLength(1);

  const again = await talk.good("pw_run_specs", { last_failed: true });
  expect(again.data).toMatchObject({ passed: false, summary: "1 failed" });
});

it("pw_run_specs ends all its processes when the caller cancels", async () => {
  const stop = new AbortController();
  const running = talk.call("pw_run_specs", { files: ["slow"] }, stop.signal);
  running.catch(() => undefined);
  const marks = join(home, "pids.txt");
  await expect.poll(() => existsSync(marks)).toBe(true);
  const pids = (await readFile(marks, "utf8")).split(" ").map(Number);
  expect(pids).toHaveLength(2);
  expect(pids.every(isRunning)).toBe(true);
  stop.abort();
  await expect(running).rejects.toThrow();
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
});

it("pw_run_specs treats no argument as an option of the command", async () => {
  for (const args of [{ files: ["-x"], grep: "$(touch x)" }, { files: ["--version"] }]) {
    const { text } = await talk.call("pw_run_specs", args);
    expect(text).toContain("No test of the project matches");
  }
  expect((await talk.call("pw_run_specs", { project: "a; touch x" })).isError).toBe(true);
  expect(existsSync(join(home, "x"))).toBe(false);
});
