import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import applyPatch from "./apply-patch.ts";

const run = promisify(execFile);

it("applies git patches like git apply: edits, creates, deletes", async () => {
  const { files, at, put, read, list, root } = await scratch();
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root });
  await git("init", "-q");
  const numbers = Array.from({ length: 40 }, (_, index) => `line ${index}\n`);
  await put("src/a.ts", numbers.join(""));
  await put("gone.txt", "to be deleted\n");
  await git("add", ".");
  await git("commit", "-qm", "one");
  await put(
    "src/a.ts",
    numbers.join("").replace("line 3\n", "three\n").replace("line 30\n", "30\n31\n"),
  );
  await put("new/b.txt", "no newline at the end");
  await rm(at("gone.txt"));
  await git("add", ".");
  const { stdout: patch } = await git("diff", "--cached");
  const wanted = [await read("src/a.ts"), await read("new/b.txt")];
  await git("reset", "-q", "--hard");
  await rm(at("new"), { recursive: true, force: true });
  // Lines before the hunks move them, and endings are the file's own.
  const moved = `first\nsecond\n${numbers.join("")}`.replaceAll("\n", "\r\n");
  await put("src/a.ts", moved);

  const checked = await use(applyPatch, files, { patch, dryRun: true });
  expect(checked).toMatch(/\[The patch applies to 3 files; nothing was changed\.\]$/);
  expect(await read("src/a.ts")).toBe(moved);
  const answer = String(await use(applyPatch, files, { patch }));
  expect(answer).toMatch(
    /\/src\/a\.ts: 3 lines added, 2 removed\.\n\[Changed 3 files\. Change \w+-\w+\.\]$/,
  );
  expect(await read("src/a.ts")).toBe(`first\nsecond\n${wanted[0]}`.replaceAll("\n", "\r\n"));
  expect(await read("new/b.txt")).toBe(wanted[1]);
  expect(await list()).not.toContain("gone.txt");

  await files.undo(/Change (\w+-\w+)/.exec(answer)?.[1] ?? "");
  expect(await read("src/a.ts")).toBe(moved);
  expect(await read("gone.txt")).toBe("to be deleted\n");
  expect(await list("new").catch(() => "none")).toBe("none");
});

it("changes nothing if a hunk does not match, a file is missing or outside, or the input is not a patch", async () => {
  const { files, put, read, at, outside } = await scratch();
  await put("a.txt", "one\ntwo\n");
  await put("b.txt", "other\n");
  await mkdir(at("sub"));
  const hunk = (name: string) => `--- ${name}\n+++ ${name}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n`;
  const refused = (patch: string) => expect(use(applyPatch, files, { patch })).rejects;
  await refused(hunk("a.txt") + hunk("b.txt")).toThrow(
    /Hunk 1 \(line 1\) does not match ".*b\.txt"; nothing/,
  );
  await refused(hunk("a.txt") + hunk("missing.txt")).toMatchObject({ kind: "not_found" });
  await refused(hunk("a.txt") + hunk(`${outside}/x`)).toMatchObject({ kind: "denied" });
  await refused(hunk("../outside/x")).toMatchObject({ kind: "denied" });
  await refused("no patch at all").toMatchObject({
    kind: "invalid",
    hint: expect.stringContaining("diff -u"),
  });
  expect(await read("a.txt")).toBe("one\ntwo\n");
  await use(applyPatch, files, { patch: hunk("a.txt") });
  expect(await read("a.txt")).toBe("one\n2\n");
});
