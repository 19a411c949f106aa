import { execFileSync } from "node:child_process";
import { readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { randomOf } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { at, emptyRepository, place, useTestDirectory } from "./fixture.ts";

useTestDirectory();

/** The ids that a diff prints, in order. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/^@@ .* \[([^\]]+)\]$/gm)].flatMap(([, ids = ""]) => ids.split(" "));
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`);

/** A repository with these files, and its index's content. */
function repositoryWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const made = at(emptyRepository(place.path("hunks")));
  made.commit("Base", files);
  const unstaged = async (args: object = {}) =>
    idsIn((await made.call("git_diff_unstaged", { ...args })).text);
  const staged = (path: string) =>
    execFileSync("git", ["cat-file", "blob", `:${path}`], { cwd: made.root });
  return { ...made, unstaged, staged };
}

describe("ids of hunks", () => {
  it("stay the same when other hunks are staged or lines move, and equal hunks differ", async () => {
    const file = (one: string, two: string) =>
      `a\nb\nc\n${one}\nd\ne\nf\n${numbers(1, 20).join("")}a\nb\nc\n${two}\nd\ne\nf\n`;
    const { call, unstaged, staged, write } = repositoryWith({ a: file("old", "old") });
    write("a", file("new", "new"));
    const [first = "", second = ""] = await unstaged();
    expect(first).not.toBe(second);
    await call("git_add", { hunks: [second] });
    expect(staged("a").toString()).toBe(file("old", "new"));
    expect(await unstaged()).toEqual([first]);
    write("a", file("new", "new").replace("line 9", "nine"));
    expect((await unstaged())[0]).toBe(first);
  });
});

describe("git_add with hunks", () => {
  it("stages the same bytes as git add -p: CRLF, no line break at the end, any encoding, modes", async () => {
    const files = {
      crlf: numbers(1, 30).join("").replaceAll("\n", "\r\n"),
      latin1: Buffer.from(numbers(1, 30).join("").replaceAll("line", "l\xefne"), "latin1"),
      "no end": numbers(1, 30).join("").trimEnd(),
      blank: "\n".repeat(30),
    };
    const change = (text: string): string => {
      const lines = text.split("\n");
      lines[2] = `${lines[2]}-changed`;
      lines.splice(12, 0, "@@ -1 +1 @@", "diff --git a/x b/x", "\\ No newline at end of file");
      return [...lines, "end without a break"].join("\n");
    };
    const { root, call, git, unstaged, write } = repositoryWith(files);
    for (const [path, content] of Object.entries(files))
      write(path, Buffer.from(change(Buffer.from(content).toString("latin1")), "latin1"));
    execFileSync("chmod", ["+x", join(root, "crlf")]);
    git("config", "diff.suppressBlankEmpty", "true");
    for (const path of Object.keys(files)) {
      const ids = await unstaged({ paths: [path] });
      expect(ids, path).toHaveLength(3);
      // git add -p asks about a new mode first.
      const input = `${path === "crlf" ? "n\n" : ""}y\nn\ny\n`;
      execFileSync("git", ["add", "-p", "--", path], { cwd: root, input });
      const theirs = git("ls-files", "--stage", "--", path);
      git("reset", "--quiet", "--", path);
      await call("git_add", { hunks: [ids[0], ids[2]] });
      expect(git("ls-files", "--stage", "--", path), path).toBe(theirs);
    }
  });

  it("stages deletions, new files and intended additions, and no rename", async () => {
    const text = numbers(1, 30).join("");
    const files = { gone: "1\n2\n", old: text };
    const { root, call, git, unstaged, staged, write } = repositoryWith(files);
    unlinkSync(join(root, "gone"));
    write("fresh", "x\ny\n");
    const [gone] = await unstaged({ paths: ["gone"] });
    const [fresh] = await unstaged({ paths: ["fresh"], include_untracked: true });
    await call("git_add", { hunks: [gone, fresh] });
    expect(git("ls-files", "gone")).toBe("");
    expect(staged("fresh").toString()).toBe("x\ny\n");
    write("later", "z\n");
    git("add", "--intent-to-add", "later");
    await call("git_add", { hunks: await unstaged({ paths: ["later"] }) });
    expect(staged("later").toString()).toBe("z\n");
    git("mv", "old", "new");
    write("new", text.replace("line 3\n", "three\n"));
    git("add", "new");
    expect(idsIn((await call("git_diff_staged", { paths: ["old", "new"] })).text)).toEqual([]);
  });

  it("of random edits equals applying exactly these changes (60 files)", async () => {
    const random = randomOf(33);
    const ends = ["\n", "\n", "\n", "\r\n"];
    const line = () => `${["", "a", "b", "c", "}", "\xe9"][random(6)]}${ends[random(4)]}`;
    const text = (count: number) => {
      const lines = Array.from({ length: count }, line);
      if (random(3) === 0 && lines.length > 0) lines.push("end");
      return lines;
    };
    const isEnded = (each: string) => each.endsWith("\n");
    const edit = (lines: readonly string[]): string[] => {
      const edited = [...lines];
      for (let count = random(6); count >= 0; count--)
        edited.splice(random(edited.length + 1), random(3), ...text(random(3)).filter(isEnded));
      return edited.map(
        (each, at) => each + (at === edited.length - 1 || isEnded(each) ? "" : "\n"),
      );
    };
    const bytes = (lines: readonly string[]) => Buffer.from(lines.join(""), "latin1");
    const before = Array.from({ length: 60 }, () => text(random(40)));
    const { root, call, git, write } = repositoryWith(
      Object.fromEntries(before.map((lines, at) => [`f${at}`, bytes(lines)])),
    );
    const after = before.map((lines, at) => [`f${at}`, bytes(edit(lines))] as const);
    for (const [path, content] of after) write(path, content);
    const patch = git("diff", "--no-renames");
    const chosen: string[] = [];
    let cursor: string | undefined;
    do {
      const { text } = await call("git_diff_unstaged", { cursor });
      chosen.push(...idsIn(text).filter(() => random(2) === 0));
      cursor = /cursor "([^"]+)"/.exec(text)?.[1];
    } while (cursor !== undefined);
    expect(chosen.length).toBeGreaterThan(20);
    for (let start = 0; start < chosen.length; start += 20)
      await call("git_add", { hunks: chosen.slice(start, start + 20) });
    // What is staged and what is left together are all changes, and each side is complete.
    for (const [path, content] of after)
      expect(readFileSync(join(root, path)).equals(content), path).toBe(true);
    const rest = git("diff", "--no-renames");
    write("../rest.patch", Buffer.from(execFileSync("git", ["diff", "--binary"], { cwd: root })));
    git("apply", "--cached", "../rest.patch");
    // The files are as written (above), and the index now equals them.
    expect(git("diff-files", "--patch")).toBe("");
    expect(rest.length).toBeLessThan(patch.length);
  });
});

describe("git_reset with hunks", () => {
  it("unstages exactly these, also of new and deleted files", async () => {
    const files = { a: numbers(1, 40).join(""), gone: "1\n" };
    const { call, git, read, staged, write } = repositoryWith(files);
    const lines = numbers(1, 40);
    lines[4] = "FIVE\n";
    lines[19] = "TWENTY\n";
    lines[34] = "35\n";
    write("a", lines.join(""));
    write("fresh", "x\n");
    git("rm", "--quiet", "gone");
    git("add", ".");
    const ids = async (path: string) =>
      idsIn((await call("git_diff_staged", { paths: [path] })).text);
    const [, middle] = await ids("a");
    await call("git_reset", { hunks: [middle, ...(await ids("fresh")), ...(await ids("gone"))] });
    expect(staged("a").toString()).toBe(lines.toSpliced(19, 1, "line 20\n").join(""));
    expect(git("ls-files", "fresh", "gone").trim()).toBe("gone");
    expect([read("a"), read("fresh")]).toEqual([lines.join(""), "x\n"]);
  });
});
