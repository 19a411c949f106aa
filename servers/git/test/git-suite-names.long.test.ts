import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import {
  callTool,
  emptyRepository,
  git,
  gitOver,
  matchesIn,
  place,
  useTestDirectory,
} from "./fixture.ts";

useTestDirectory();

/** The odd names in git's test suite and in quote.c, separated by "|". */
const NAMES = [
  // t3902-quoted.sh
  'Name|Name and a\nLF|Name and an\tHT|Name"|濱野\t純|濱野\n純|濱野 純|濱野純|濱野"純|With SP in it|濱野/file',
  // t3300-funny-names.sh, t4016-diff-quote.sh
  'no-funny|tabs\t," (dq) and spaces|just space|pathname|path\tname|path"name|path\nname',
  'pathname\twith SP|pathname"with SP|pathname\nwith SP',
  // t3700-add.sh, t3070-wildmatch.sh, t4208-log-magic-pathspec.sh, t6132-pathspec-exclude.sh
  "fo[ou]bar|foo*bar|-ab|[!a-z]|\\|a\\b|a?b|:(exclude)x|:!x|:/sub|^x",
  // t4012-diff-binary.sh and t4013-diff-various.sh write such lines; here they are names
  "Binary files a and b differ|GIT binary patch|diff --git a/x b/x|@@ -1 +1 @@|--- a|+++ b",
  "* Unmerged path x|rename from x|\\ No newline at end of file|1\t1\tx|:100644 100644 a b M",
  ..."\u0001 \u0007 \b \u000b \f \r \u001b \u007f".split(" ").map((char) => `control ${char}.`),
  "trailing space | leading|...|..a|a..|~|#|'|$(x)|%s%n|\u2028line|\ufeffbom|é|e\u0301",
  "\u202egnp.exe|👩‍💻|nul|HEAD|refs/heads/main|@{0}|a:b|HEAD:x",
].flatMap((names) => names.split("|"));

const split = (output: string) => output.split("\0").filter((text) => text !== "");
const sorted = (paths: readonly string[]) => [...paths].sort();

it("are read as written by git: untracked, added, changed, renamed, found and shown", async () => {
  const root = emptyRepository(place.path("names"));
  const over = gitOver([root]);
  const put = (name: string, text: string) => {
    mkdirSync(dirname(`${root}/${name}`), { recursive: true });
    writeFileSync(`${root}/${name}`, text);
  };
  const call = async (tool: string, args: object = {}) =>
    (await callTool(over, tool, { ...args })).data;
  type Entry = { path: string; from?: string };
  const entries = (list: unknown) => list as Entry[];
  const paths = (list: unknown) => sorted(entries(list).map(({ path }) => path));
  const line = (name: string) => `needle of ${JSON.stringify(name)}\n`;

  for (const name of NAMES) put(name, line(name));
  const untracked = await call("git_status", { paths: ["."] });
  expect(sorted(untracked.untracked as string[])).toEqual(sorted(NAMES));
  await call("git_add", { files: NAMES });
  expect(sorted(split(git(root, "diff", "--cached", "--name-only", "-z")))).toEqual(sorted(NAMES));
  expect(paths((await call("git_status")).staged)).toEqual(sorted(NAMES));
  await call("git_commit", { message: "Names", files: NAMES });
  expect(git(root, "status", "--porcelain")).toBe("");

  expect(sorted((await call("git_list_files")).files as string[])).toEqual(sorted(NAMES));
  expect(sorted((await call("git_list_files", { revision: "HEAD" })).files as string[])).toEqual(
    sorted(NAMES),
  );
  for (const where of [{}, { revision: "HEAD" }]) {
    const found = matchesIn(await call("git_grep", { pattern: "^needle", limit: 1_000, ...where }));
    expect(paths(found)).toEqual(sorted(NAMES));
    for (const { path, text } of found) expect(`${text}\n`).toBe(line(path));
  }

  for (const name of NAMES) put(name, `${line(name)}more\n`);
  expect(paths((await call("git_status")).unstaged)).toEqual(sorted(NAMES));
  const { text } = await callTool(over, "git_diff_unstaged", { context_lines: 0 });
  expect(text).toContain(`(${NAMES.length} files changed, ${NAMES.length} insertions, 0 deletions`);
  for (const name of NAMES) {
    expect(await call("git_log", { path: name }), name).toMatchObject({
      commits: [{ message: "Names" }],
    });
    const blame = await callTool(over, "git_blame", { path: name });
    expect(blame.text, name).toContain(`1) ${line(name)}`.trimEnd());
    const one = await callTool(over, "git_diff_unstaged", { paths: [name] });
    expect(one.text, name).toContain("(1 file changed, 1 insertion, 0 deletions)");
  }
  const restored = await call("git_restore", { files: NAMES });
  expect(restored.count).toBe(NAMES.length);
  expect(git(root, "status", "--porcelain")).toBe("");

  for (const [index, name] of NAMES.entries())
    renameSync(`${root}/${name}`, `${root}/renamed ${index}`);
  git(root, "add", "--all");
  const moved = entries((await call("git_status")).staged);
  expect(sorted(moved.map(({ from = "" }) => from))).toEqual(sorted(NAMES));
  for (const { path, from = "" } of moved) expect(path).toBe(`renamed ${NAMES.indexOf(from)}`);
  await call("git_stash");
  expect(git(root, "status", "--porcelain")).toBe("");
});
