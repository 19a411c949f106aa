import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Clone, cloneWorkspace } from "./clone.ts";

/** Long enough for an installation on a slow machine; only for tests that hang. */
const LONG = 900_000;
/** A server of each kind; files are the default. */
const SERVERS = [
  ["scratch", undefined],
  ["remote", "web"],
  ["table", "database"],
] as const;
let clone: Clone;
let said = "";
let statusAfterServer: string[] = [];

beforeAll(async () => {
  clone = await cloneWorkspace();
  for (const [name, kind] of SERVERS) {
    const { stderr } = await clone.node(
      "scripts/new.mjs",
      "server",
      name,
      ...(kind ? ["--kind", kind] : []),
    );
    if (kind !== undefined) continue;
    said = stderr;
    statusAfterServer = await clone.status();
  }
  await clone.node("scripts/new.mjs", "tool", "scratch", "scratch_count");
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
      " M .claude-plugin/marketplace.json",
      " M .cursor-plugin/marketplace.json",
      " M README.md",
      " M docs/hosts.md",
      " M pnpm-lock.yaml",
      "?? .changeset/",
      "?? .github/",
      "?? docs/badges/",
      "?? docs/errors.md",
      "?? docs/options.md",
      "?? docs/plugins.md",
      "?? docs/size.md",
      "?? plugins/",
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

  it("comes with a list of the kinds and of existing files to replace", async () => {
    expect(said).toContain("--kind files; the others are web and database.");
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
    expect(stdout).toContain("6 passed");
  });

  it.each(SERVERS)("has the required tests: %s", async (name) => {
    const tests = ["ls-files", "--others", "--exclude-standard", "*.test.ts"];
    const { stdout } = await clone.run(`servers/${name}`, "git", ...tests);
    expect(stdout.trim().split("\n").sort()).toEqual([
      "evals/tasks.test.ts",
      ...(name === "scratch" ? ["src/tools/scratch-count.test.ts"] : []),
      `src/tools/${name}-find.test.ts`,
      "test/attacks.test.ts",
      "test/contract.test.ts",
    ]);
  });

  it.each(SERVERS)("has a working demo: %s", { timeout: LONG }, async (name) => {
    const script = `
      const { play } = await import("./scripts/lib/demo.mjs");
      process.stdout.write(JSON.stringify(await play("${name}", await import("./servers/${name}/demo.mjs"))));`;
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
    expect(readme).toContain(
      "| `scratch_count` | read | Count the characters, words and lines of a text. |",
    );
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
    const { code, stdout } = await run(...SERVERS.map(([name]) => name));
    expect(stdout).toMatch(/^3 suites, [\w ]+ on \d+ cores?\.\n/);
    const passed = SERVERS.map(([name]) =>
      Number(new RegExp(`^✓ servers/${name}: (\\d+) passed \\([^)]+\\)$`, "m").exec(stdout)?.[1]),
    );
    const sum = passed.reduce((total, one) => total + one, 0);
    expect(stdout).toMatch(new RegExp(`\n\n${sum} passed, 0 failed\n$`));
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
    expect(await refusal("server", "weather", "--kind", "mail")).toContain(
      "Kinds: files, web, database.",
    );
  });

  it("an invalid or taken name for a tool, and a server that does not exist", async () => {
    expect(await refusal("tool", "scratch", "Count-Words")).toContain(
      "3 to 40 of a to z, 0 to 9 and _",
    );
    expect(await refusal("tool", "scratch", "scratch_find")).toContain(
      'a tool "scratch_find" already',
    );
    expect(await refusal("tool", "elsewhere", "count_words")).toContain(
      "There are: remote, scratch, table.",
    );
  });
});
