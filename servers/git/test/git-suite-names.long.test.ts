import { renameSync } from "node:fs";
import { expect, it } from "vitest";
import { at, emptyRepository, matchesIn, place, useTestDirectory } from "./fixture.ts";

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

it("are read as written by git: untracked, added, changed, renamed, found and shown", async () => {
  const { call, git, write, root } = at(emptyRepository(place.path("names")));
  const sorted = (paths: readonly string[]) => [...paths].sort();
  const all = sorted(NAMES);
  type Entry = { path: string; from?: string };
  const dataOf = async (tool: string, args: object = {}) => (await call(tool, { ...args })).data;
  const isAll = (list: unknown) =>
    expect(sorted((list as Entry[]).map((entry) => entry.path ?? entry))).toEqual(all);
  const line = (name: string) => `needle of ${JSON.stringify(name)}\n`;

  for (const name of NAMES) write(name, line(name));
  isAll((await dataOf("git_status", { paths: ["."] })).untracked);
  await call("git_add", { files: NAMES });
  isAll(git("diff", "--cached", "--name-only", "-z").split("\0").slice(0, -1));
  isAll((await dataOf("git_status")).staged);
  await call("git_commit", { message: "Names", files: NAMES });
  expect(git("status", "--porcelain")).toBe("");
  for (const where of [{}, { revision: "HEAD" }]) {
    isAll((await dataOf("git_list_files", where)).files);
    const found = matchesIn(
      await dataOf("git_grep", { pattern: "^needle", limit: 1_000, ...where }),
    );
    isAll(found);
    for (const { path, text } of found) expect(`${text}\n`).toBe(line(path));
  }

  for (const name of NAMES) write(name, `${line(name)}more\n`);
  isAll((await dataOf("git_status")).unstaged);
  const { text } = await call("git_diff_unstaged", { context_lines: 0 });
  expect(text).toContain(`(${NAMES.length} files changed, ${NAMES.length} insertions, 0 deletions`);
  for (const name of NAMES) {
    const commits = [{ message: "Names" }];
    expect(await dataOf("git_log", { path: name }), name).toMatchObject({ commits });
    const blame = await call("git_blame", { path: name });
    expect(blame.text, name).toContain(`1) ${line(name)}`.trimEnd());
    const diff = await call("git_diff_unstaged", { paths: [name] });
    expect(diff.text, name).toContain("(1 file changed, 1 insertion, 0 deletions)");
  }
  expect((await dataOf("git_restore", { files: NAMES })).count).toBe(NAMES.length);
  expect(git("status", "--porcelain")).toBe("");

  for (const [index, name] of NAMES.entries())
    renameSync(`${root}/${name}`, `${root}/renamed ${index}`);
  git("add", "--all");
  const moved = (await dataOf("git_status")).staged as Entry[];
  expect(sorted(moved.map(({ from = "" }) => from))).toEqual(all);
  for (const { path, from = "" } of moved) expect(path).toBe(`renamed ${NAMES.indexOf(from)}`);
  await call("git_stash");
  expect(git("status", "--porcelain")).toBe("");
});
