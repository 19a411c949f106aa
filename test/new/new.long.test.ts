import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Clone, cloneWorkspace } from "./clone.ts";

/** Long enough for an installation on a slow machine; only for tests that hang. */
const LONG = 900_000;
let clone: Clone;
let said = "";
let statusAfterServer: string[] = [];

beforeAll(async () => {
  clone = await cloneWorkspace();
  ({ stderr: said } = await clone.node("scripts/new.mjs", "server", "scratch"));
  statusAfterServer = await clone.status();
}, LONG);
afterAll(() => clone?.dispose());

/** The output of `pnpm new` when it refuses. */
async function refusal(...args: string[]): Promise<string> {
  const failed: { code: number; stderr: string } = await clone
    .node("scripts/new.mjs", ...args)
    .then(
      () => ({ code: 0, stderr: "" }),
      (error) => error,
    );
  expect(failed.code).toBe(2);
  return failed.stderr;
}

describe("the result of pnpm new", () => {
  it("is one folder, a changeset, and the pages generated from them", () => {
    expect(statusAfterServer).toEqual([
      " M README.md",
      " M docs/hosts.md",
      " M pnpm-lock.yaml",
      "?? .changeset/",
      "?? docs/size.md",
      "?? servers/",
    ]);
  });

  it("is formatted, without a warning", { timeout: LONG }, async () => {
    await clone.node(
      "node_modules/@biomejs/biome/bin/biome",
      "ci",
      "--error-on-warnings",
      "servers",
    );
  });

  it("comes with a list of existing files to replace", async () => {
    const files = [...said.matchAll(/^ {2}((?:[\w.-]+\/)*[\w.-]+(?:\.\w+|\/))(?=[ ,])/gm)].map(
      ([, file = ""]) => file,
    );
    expect(files).toHaveLength(8);
    for (const file of files)
      expect(existsSync(join(clone.root, "servers/scratch", file)), file).toBe(true);
  });

  it("passes the structural tests", { timeout: LONG }, async () => {
    const { stdout } = await clone.run(
      "test",
      process.execPath,
      "node_modules/vitest/vitest.mjs",
      "run",
      "structure",
    );
    expect(stdout).toMatch(/\d+ passed/);
  });

  it("has the required tests", async () => {
    const tests = ["ls-files", "--others", "--exclude-standard", "*.test.ts"];
    const { stdout } = await clone.run(`servers/scratch`, "git", ...tests);
    expect(stdout.trim().split("\n").sort()).toEqual([
      `src/tools/scratch-find.test.ts`,
      "test/attacks.test.ts",
      "test/contract.test.ts",
    ]);
  });

  it("has a working demo", { timeout: LONG }, async () => {
    const script = `
      const { play } = await import("./scripts/lib/demo.mjs");
      process.stdout.write(JSON.stringify(await play("scratch", await import("./servers/scratch/demo.mjs"))));`;
    const { stdout } = await clone.run(
      ".",
      process.execPath,
      "--input-type=module",
      "--eval",
      script,
    );
    expect(JSON.parse(stdout)).toMatchObject({ state: "passed", calls: 2 });
  });

  it("matches pnpm generate, which notices a changed definition", {
    timeout: LONG,
  }, async () => {
    await clone.node("scripts/generate.mjs", "--check");
    const readme = await readFile(join(clone.root, "servers", "scratch", "README.md"), "utf8");
    expect(readme).toContain("| `scratch_find` | read | ");
    const source = join(clone.root, "servers", "scratch", "package.json");
    const text = await readFile(source, "utf8");
    expect(text).toContain("Find notes");
    await writeFile(source, text.replace("Find notes", "Search notes"));
    const failed: { stderr: string } = await clone.node("scripts/generate.mjs", "--check").then(
      () => ({ stderr: "" }),
      (error) => error,
    );
    for (const file of ["servers/scratch/server.json", "README.md"])
      expect(failed.stderr).toMatch(new RegExp(`Not current: .*${file}`, "s"));
  });
});

describe("npm test, of some packages", () => {
  const folder = "servers/scratch";
  const run = (...names: string[]) =>
    clone.node("scripts/test.mjs", ...names.map((name) => `--filter=@refmcp/server-${name}`)).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    );

  it("checks the types, runs each suite, where a missing snapshot fails, and closes with the counts", {
    timeout: LONG,
  }, async () => {
    const { code, stdout } = await run("scratch");
    expect(stdout).toMatch(/^1 suite to run on \d+ cores?\.\n/);
    const [, passed] = /^✓ servers\/scratch: (\d+) passed \([^)]+\)$/m.exec(stdout) ?? [];
    expect(stdout).toMatch(new RegExp(`\n\n${passed} passed, 0 failed\n$`));
    expect(code).toBe(0);
    expect((await run("scratch")).stdout).toMatch(
      /^1 suite, nothing changed since it passed\.\n✓ /,
    );
  });

  it("ends with what was skipped and what failed, with file, name and reason, in plain text", {
    timeout: LONG,
  }, async () => {
    const test = join(clone.root, folder, "test", "broken.test.ts");
    await writeFile(
      test,
      `import { expect, it } from "vitest";
it("adds", () => expect(1 + 1).toBe(3));
it("flies", (context) => context.skip("there is no wing"));
`,
    );
    const { code, stdout } = await run("scratch");
    await rm(test);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ servers\/scratch: \d+ passed, 1 failed, 1 skipped \(/m);
    expect(stdout).toContain(
      `\n- skipped: ${folder}/test/broken.test.ts: flies: there is no wing\n`,
    );
    expect(stdout).toContain(`\n✗ ${folder}/test/broken.test.ts: adds\n    expected 2 to be 3`);
    expect(stdout).toMatch(/\n\n\d+ passed, 1 failed, 1 skipped\n$/);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("pnpm new refuses", () => {
  it("a server's name that hosts would not accept, or that exists", async () => {
    expect(await refusal("server", "My_Server")).toContain("2 to 20 letters a to z");
    expect(await refusal("server", "scratch")).toContain("servers/scratch already exists");
    expect(await refusal("server")).toContain("Usage:");
  });
});
