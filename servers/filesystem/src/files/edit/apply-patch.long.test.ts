import { execFile } from "node:child_process";
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { itLong } from "../../../../../vitest.long.ts";
import { scratch } from "../../../test/scratch.ts";

const run = promisify(execFile);
const isWindows = process.platform === "win32";

/** A Git repository next to the allowed directory. */
async function repository(directory: string) {
  await mkdir(directory, { recursive: true });
  const settings = ["user.name=a", "user.email=a@b", "core.autocrlf=false", "diff.renames=copies"];
  const git = async (...args: string[]) => {
    const options = { cwd: directory, maxBuffer: 50_000_000 };
    return (await run("git", [...settings.flatMap((one) => ["-c", one]), ...args], options)).stdout;
  };
  await git("init", "-q");
  return git;
}

/** Every file below a directory with its content and whether it is executable. */
async function filesOf(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(directory, { recursive: true })).sort()) {
    if (name.startsWith(".git")) continue;
    const { mode, ...entry } = await stat(join(directory, name));
    if (entry.size === undefined || (mode & 0o170000) !== 0o100000) continue;
    const isExecutable = !isWindows && (mode & 0o100) !== 0;
    found[name] = `${isExecutable ? "x" : "-"} ${await readFile(join(directory, name), "latin1")}`;
  }
  return found;
}

/** Numbers from 0 to `below` - 1, the same in each run. */
function randomNumbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const SPECIAL = isWindows
  ? ["ä ö.txt"]
  : ["ä ö.txt", 'quote".txt', "tab\there.txt", "back\\slash.txt"];

/** Makes random changes to the files of `directory`. */
async function mutate(
  directory: string,
  random: (below: number) => number,
  round: number,
): Promise<void> {
  const text = (end: string) => {
    const lines = Array.from(
      { length: random(40) },
      () => `${"word ".repeat(random(6))}${random(9)}`,
    );
    return lines.join(end) + (random(2) === 0 ? end : "");
  };
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  const names = Object.keys(await filesOf(directory));
  const fresh = () => {
    const name = random(4) === 0 ? `${round} ${pick(SPECIAL)}` : `f${round}-${random(1000)}.txt`;
    return join(`d${random(3)}`, ...(random(3) === 0 ? [`sub${random(2)}`] : []), name);
  };
  const at = (name: string) => join(directory, name);
  for (let count = 1 + random(8); count > 0; count--) {
    const index = random(names.length);
    const [name] = names.splice(index, 1);
    const target = fresh();
    await mkdir(dirname(at(target)), { recursive: true });
    const kind = name === undefined ? 0 : random(8);
    if (name === undefined || kind <= 1)
      await writeFile(at(target), text(pick(["\n", "\r\n"]) ?? "\n"));
    if (name === undefined) continue;
    const edit = async (path: string) => {
      const lines = (await readFile(path, "utf8")).split("\n");
      for (let edits = 1 + random(3); edits > 0; edits--) {
        const added = Array.from(
          { length: random(3) },
          () => `new ${random(100)}${pick(["", "\r"])}`,
        );
        lines.splice(random(lines.length + 1), random(3), ...added);
      }
      await writeFile(path, lines.join("\n"));
    };
    if (kind === 2 || kind === 3) await edit(at(name));
    if (kind === 4) await rm(at(name));
    if (kind === 5 || kind === 6) await rename(at(name), at(target));
    if (kind === 7) await copyFile(at(name), at(target));
    if (kind >= 6 && random(2) === 0) await edit(at(target));
    if (kind === 3 || (kind === 6 && random(2) === 0)) {
      await chmod(at(kind === 3 ? name : target), random(2) === 0 ? 0o755 : 0o644);
    }
  }
}

itLong(
  "turns 50 random trees into what git has: edits, renames, copies, modes, endings and names",
  async () => {
    const { files, root, outside } = await scratch();
    const git = await repository(outside);
    const random = randomNumbers(31);
    const seen = new Set<string>();
    for (let round = 0; round < 50; round++) {
      const before = await filesOf(root);
      await mutate(outside, random, round);
      await git("add", "-A");
      const patch = await git("diff", "--cached", "-M", "-C", "--find-copies-harder");
      await git("commit", "-q", "--allow-empty", "-m", "x");
      if (patch === "") continue;
      const dry = await files.applyPatch({ path: root, patch, dryRun: true });
      expect(await filesOf(root)).toEqual(before);
      const { files: done, receipt } = await files.applyPatch({ path: root, patch, dryRun: false });
      expect(await filesOf(root), patch).toEqual(await filesOf(outside));
      expect(dry.files.length).toBe(done.length);
      for (const { action, executable } of done) seen.add(action).add(`executable ${executable}`);
      if (round % 5 !== 4) continue;
      await files.undo(receipt?.changeId ?? "");
      expect(await filesOf(root)).toEqual(before);
      await files.applyPatch({ path: root, patch, dryRun: false });
    }
    const modes = isWindows ? [] : ["executable true", "executable false"];
    expect([...seen]).toEqual(
      expect.arrayContaining(["create", "edit", "delete", "rename", "copy", ...modes]),
    );
  },
);

it("refuses binary files, symlinks, files in the way and files named twice, and changes nothing", async () => {
  const { files, root, outside, put, read } = await scratch();
  const git = await repository(outside);
  await writeFile(join(outside, "a.txt"), "one\n");
  await writeFile(join(outside, "picture.png"), Buffer.from([0x89, 0x50, 0, 1, 2, 3]));
  await writeFile(join(outside, "old.txt"), "a text\nof three\nlines\n");
  await git("add", "-A");
  await git("commit", "-qm", "one");
  await cp(outside, root, { recursive: true });
  const applied = (patch: string) => files.applyPatch({ path: root, patch, dryRun: false });
  const refused = (patch: string) => expect(applied(patch)).rejects;

  await writeFile(join(outside, "a.txt"), "two\n");
  await writeFile(join(outside, "picture.png"), Buffer.from([0x89, 0x50, 0, 9, 9, 9]));
  for (const patch of [await git("diff"), await git("diff", "--binary")]) {
    await refused(patch).toThrow('changes the binary file "picture.png"; nothing was changed');
  }
  const text = await git("diff", "--", "a.txt");
  const link =
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n";
  await refused(text + link).toThrow(/"l" is a symlink or submodule/);
  await refused(text + text).toThrow(/changes ".*a\.txt" twice/);

  await git("mv", "old.txt", "new.txt");
  const renamed = await git("diff", "--cached", "-M");
  await put("new.txt", "mine");
  await refused(text + renamed).toMatchObject({
    kind: "conflict",
    message: /new\.txt" already exists/,
  });
  expect(await read("new.txt")).toBe("mine");
  await put("created.txt", "mine");
  const created = "--- /dev/null\n+++ b/created.txt\n@@ -0,0 +1 @@\n+x\n";
  await refused(text + created).toMatchObject({ kind: "conflict" });
  await refused(text + renamed.replaceAll("old.", "lost.").replaceAll("new.", "x.")).toMatchObject({
    kind: "not_found",
  });
  await refused(text + renamed.replaceAll("new.txt", "../outside/x")).toMatchObject({
    kind: "denied",
  });
  expect(await read("a.txt")).toBe("one\n");
});

it("applies a mail of git format-patch, and a patch whose own line endings are CRLF", async () => {
  const { files, root, outside, put, read } = await scratch();
  const git = await repository(outside);
  for (const [index, content] of ["one\n", "two\n", "three\n"].entries()) {
    await writeFile(join(outside, index === 2 ? "b.txt" : "a.txt"), content);
    await git("add", "-A");
    await git("commit", "-qm", `commit ${index}`);
  }
  const mail = await git("format-patch", "--stdout", "HEAD~2");
  await put("a.txt", "one\n");
  await files.applyPatch({ path: root, patch: mail, dryRun: false });
  expect([await read("a.txt"), await read("b.txt")]).toEqual(["two\n", "three\n"]);
  await put("a.txt", "one\n");
  const patch = (await git("diff", "HEAD~2", "HEAD", "--", "a.txt")).replaceAll("\n", "\r\n");
  await files.applyPatch({ path: root, patch, dryRun: false });
  expect(await read("a.txt")).toBe("two\n");
});
