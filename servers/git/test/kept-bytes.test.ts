import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import { at, makeDirty, place, sampleRepository, useTestDirectory, write } from "./fixture.ts";
import { callOf, REMOTE } from "./matrix.ts";

useTestDirectory();

/** Tools that change a repository and need no remote. */
const changing = tools
  .filter(({ effect, openWorld }) => effect !== "read" && openWorld !== true)
  .map(({ name }) => name)
  .filter((name) => !REMOTE.has(name));

/** The files of the working tree: tracked, untracked and ignored ones. */
function filesIn(root: string): string[] {
  const all = readdirSync(root, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(root, ".git")));
}

/** Files here, and what the other side has there: the same, a directory in place of a file, and a file in place of one. */
const MINE = ["mine.txt", "mine.log", "deep/mine.log", "d.log", "e.log/mine"];
const THEIRS = ["mine.txt", "mine.log", "deep/mine.log", "d.log/theirs", "e.log"];

/** A repository with every kind of file; the branch that tools go to has other content for each. */
function repository(state: "clean" | "dirty") {
  const made = at(sampleRepository(place.path(state)));
  const { git, write } = made;
  git("checkout", "--quiet", "feature");
  for (const path of THEIRS) write(path, "theirs\n");
  git("add", "--force", ".");
  git("commit", "--quiet", "-m", "Theirs");
  git("checkout", "--quiet", "main");
  git("checkout", "--quiet", "feature", "--", ...THEIRS);
  git("stash", "push", "--quiet");
  if (state === "dirty") makeDirty(made.root);
  for (const path of MINE) write(path, `mine, in ${path}\n`);
  return made;
}

const more: readonly [tool: string, args: object][] = [
  ["git_reset_hard", { revision: "feature" }],
  ["git_rebase", { onto: "feature", on_conflict: "keep" }],
  ["git_merge", { revision: "feature", on_conflict: "keep" }],
  ["git_restore", { files: ["."], source: "feature", staged: true }],
  ["git_cherry_pick", { commits: ["feature"], on_conflict: "keep" }],
  ["git_stash_apply", {}],
  ["git_clean", { ignored: true }],
];
const calls = [...changing.map((name) => [name, callOf(name).args] as const), ...more];

const states = ["clean", "dirty"] as const;
const all = calls.flatMap(([tool, args]) => states.map((state) => [tool, args, state] as const));

it.each(all)("%s %o loses no byte of any file (%s)", async (tool, args, state) => {
  const { root, git, call } = repository(state);
  const before = filesIn(root).map((path) => readFileSync(path, "utf8"));
  const ids = before.map((text, index) => {
    write(place.folder, `content-${index}`, text);
    return git("hash-object", "--no-filters", place.path(`content-${index}`)).trim();
  });
  await call(tool, args).catch(() => undefined);
  const after = new Set(filesIn(root).map((path) => readFileSync(path, "utf8")));
  const kept = git("rev-list", "--objects", "--all", "--reflog", "--indexed-objects");
  const lost = before.filter(
    (text, index) => !after.has(text) && !kept.includes(ids[index] ?? "-"),
  );
  expect(lost).toEqual([]);
});
