import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../servers.ts";
import { TASKS } from "../tasks.ts";
import { filesOf, importsOf } from "./layout.ts";

const TESTS = filesOf(join(ROOT, "test"))
  .filter((file) => file.endsWith(".test.ts") && !file.endsWith(".long.test.ts"))
  .map((file) => `test/${file}`);
const turbo: { tasks: Record<string, { inputs?: string[] }> } = JSON.parse(
  readFileSync(join(ROOT, "turbo.json"), "utf8"),
);
const folderOf = (file: string) => file.split("/")[1] ?? "";

const GLOBS: Record<string, string> = { "**/": "(?:.+/)?", "**": ".*", "*": "[^/]*" };

/** Whether a change of a file makes a task run again, by the globs in turbo.json. */
function isInput(task: string, file: string): boolean {
  const { inputs = [] } = turbo.tasks[`@refmcp/test#test:${task}`] ?? {};
  const isMatch = (glob: string) => {
    const full = glob.startsWith("$TURBO_ROOT$/") ? glob.slice(13) : `test/${glob}`;
    const source = full
      .replace(/[.$]/g, "\\$&")
      .replace(/\*\*\/|\*\*?/g, (glob) => GLOBS[glob] ?? "")
      .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`);
    return new RegExp(`^${source}$`).test(file);
  };
  const [without, within] = [true, false].map((isExcluded) =>
    inputs.filter((glob) => glob.startsWith("!") === isExcluded),
  );
  return (
    within?.some(isMatch) === true && without?.some((glob) => isMatch(glob.slice(1))) === false
  );
}

/** A module and all that it imports by path, from the root of the clone. */
function withImports(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const from of importsOf(readFileSync(join(ROOT, file), "utf8"))) {
    const imported = posix.join(posix.dirname(file), from);
    if (/^\..*\.\w+$/.test(from) && existsSync(join(ROOT, imported))) withImports(imported, seen);
  }
  return seen;
}

it("every folder with tests is in one task", () => {
  const folders = Object.values(TASKS).flat();
  expect(folders.toSorted()).toEqual([...new Set(TESTS.map(folderOf))].toSorted());
});

describe.each(Object.entries(TASKS))("the task %s", (task, folders) => {
  it("runs again if a module of its tests changes", () => {
    const modules = new Set<string>();
    for (const test of TESTS.filter((file) => folders.includes(folderOf(file))))
      withImports(test, modules);
    expect(modules.size).toBeGreaterThan(folders.length);
    expect([...modules].filter((file) => !isInput(task, file))).toEqual([]);
  });
});

it("a change of a page runs the documents again, and no server", () => {
  const pages = ["README.md", "CONTRIBUTING.md", "docs/migration.md", "servers/git/README.md"];
  for (const page of pages)
    expect(Object.keys(TASKS).filter((task) => isInput(task, page))).toEqual(["documents"]);
});
