import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitFiles, emptyRepository, failureOf, git, useSample, write } from "./fixture.ts";

const sample = useSample("clean");

/** The ids that a diff prints, in order. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/^@@ .* \[([^\]]+)\]$/gm)].flatMap(([, ids = ""]) => ids.split(" "));
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`);

/** A repository with these files, and a function that calls a tool there and one that returns the index's content. */
function repositoryWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const { place, call } = sample();
  const root = emptyRepository(place.path("hunks"));
  commitFiles(root, "Base", files);
  const at = (name: string, args: object = {}) => call(name, { repo_path: root, ...args });
  const unstaged = async (args: object = {}) => idsIn((await at("git_diff_unstaged", args)).text);
  const staged = (path: string) =>
    execFileSync("git", ["cat-file", "blob", `:${path}`], { cwd: root, env: { ...process.env } });
  return { root, at, unstaged, staged };
}

describe("ids of hunks", () => {
  it("are at the end of each hunk's header, and the patch is still applicable", async () => {
    const { root, at } = repositoryWith({ a: numbers(1, 40).join("") });
    const lines = numbers(1, 40);
    lines[4] = "FIVE\n";
    lines[7] = "EIGHT\n";
    lines[30] = "31\n";
    write(root, "a", lines.join(""));
    const { text } = await at("git_diff_unstaged");
    expect(idsIn(text)).toHaveLength(3);
    expect(text).toMatch(/^@@ -2,10 \+2,10 @@ line 1 \[[0-9a-f]{7} [0-9a-f]{7}\]$/m);
    const patch = `${text.slice(text.indexOf("diff --git"), text.lastIndexOf("\n("))}\n`;
    write(root, "../p", patch);
    git(root, "checkout", "--quiet", "a");
    git(root, "apply", "../p");
    expect(readFileSync(join(root, "a"), "utf8")).toBe(lines.join(""));
  });

  it("stay the same when other hunks are staged, lines move, or more context is shown", async () => {
    const { root, at, unstaged } = repositoryWith({ a: numbers(1, 60).join("") });
    const lines = numbers(1, 60);
    lines[9] = "TEN\n";
    lines[39] = "FORTY\n";
    write(root, "a", lines.join(""));
    const [first, second] = await unstaged();
    expect(await unstaged({ context_lines: 50 })).toEqual([first, second]);
    await at("git_add", { hunks: [first] });
    expect(await unstaged()).toEqual([second]);
    write(root, "a", ["above\n", ...lines].join(""));
    expect((await unstaged())[1]).toBe(second);
    expect(idsIn((await at("git_diff_staged")).text)).toEqual([first]);
  });

  it("of a hunk of many changes are all there, and equal changes differ", async () => {
    const { root, at, unstaged, staged } = repositoryWith({ a: numbers(1, 14).join("") });
    const lines = numbers(1, 14).map((line, index) => (index % 2 === 0 ? "same\n" : line));
    write(root, "a", lines.join(""));
    const all = await unstaged();
    expect(all).toHaveLength(7);
    await at("git_add", { hunks: all });
    expect(staged("a").toString()).toBe(lines.join(""));
    write(
      root,
      "a",
      lines.flatMap((line, index) => (index % 5 === 0 ? [line, "new\n"] : [line])).join(""),
    );
    const equal = await unstaged();
    expect(new Set(equal).size).toBe(3);
    await at("git_add", { hunks: [equal[1]] });
    expect(staged("a").toString()).toBe(lines.toSpliced(6, 0, "new\n").join(""));
  });

  it("that are stale are refused, with the current ids of that path, and nothing is staged", async () => {
    const { root, at, unstaged } = repositoryWith({ a: "1\n2\n3\n" });
    write(root, "a", "1\ntwo\n3\n");
    const [old = ""] = await unstaged();
    write(root, "a", "1\nTWO\n3\n");
    const [current = ""] = await unstaged();
    const error = await failureOf(at("git_add", { hunks: [current, old] }));
    expect(error).toMatchObject({ kind: "conflict", code: "stale_hunk" });
    expect(error.message).toContain(`No single unstaged change has the id ${old}.`);
    expect(error.message).toContain(`${current} (a line 2: -2)`);
    expect(git(root, "diff", "--cached")).toBe("");
    for (const bad of ["HEAD", "--all", `${current}:0`, `${current}:3-2`, `${current}:3`, ""])
      expect((await failureOf(at("git_add", { hunks: [bad] }))).code, bad).toBe("bad_hunk");
    expect((await failureOf(at("git_add"))).code).toBe("nothing_named");
  });
});

describe("git_add with hunks", () => {
  it("stages the same bytes as git add -p: CRLF, no line break at the end, any encoding, modes", async () => {
    const files = {
      crlf: numbers(1, 30).join("").replaceAll("\n", "\r\n"),
      latin1: Buffer.from(numbers(1, 30).join("").replaceAll("line", "l\xefne"), "latin1"),
      "no end": numbers(1, 30).join("").trimEnd(),
      'q"uo\ttes': numbers(1, 30).join(""),
      blank: "\n".repeat(30),
    };
    const change = (text: string): string => {
      const lines = text.split("\n");
      lines[2] = `${lines[2]}-changed`;
      lines.splice(12, 0, "@@ -1 +1 @@", "diff --git a/x b/x", "\\ No newline at end of file");
      return [...lines, "end without a break"].join("\n");
    };
    const { root, unstaged, at } = repositoryWith(files);
    for (const [path, content] of Object.entries(files)) {
      const text = change(Buffer.from(content).toString("latin1"));
      write(root, path, Buffer.from(text, "latin1"));
    }
    execFileSync("chmod", ["+x", join(root, "crlf")]);
    git(root, "config", "diff.suppressBlankEmpty", "true");
    for (const path of Object.keys(files)) {
      const ids = await unstaged({ paths: [path] });
      expect(ids, path).toHaveLength(3);
      // git add -p asks about a new mode first.
      const answers = `${path === "crlf" ? "n\n" : ""}y\nn\ny\n`;
      execFileSync("git", ["add", "-p", "--", path], {
        cwd: root,
        input: answers,
        stdio: ["pipe", "ignore", "pipe"],
      });
      const theirs = git(root, "ls-files", "--stage", "--", path);
      git(root, "reset", "--quiet", "--", path);
      await at("git_add", { hunks: [ids[0], ids[2]] });
      expect(git(root, "ls-files", "--stage", "--", path), path).toBe(theirs);
    }
  });

  it("stages lines of a change, and parts of new files", async () => {
    const { root, at, unstaged, staged } = repositoryWith({ a: "1\n2\nlast" });
    write(root, "a", "1\nb\nc\nd");
    const [id] = await unstaged();
    await at("git_add", { hunks: [`${id}:1`, `${id}:4`] });
    expect(staged("a").toString()).toBe("1\nlast\nc\n");
    write(root, "new", "x\ny\nz\n");
    const ids = idsIn(
      (await at("git_diff_unstaged", { include_untracked: true, paths: ["new"] })).text,
    );
    await at("git_add", { hunks: [`${ids[0]}:2-3`] });
    expect(staged("new").toString()).toBe("y\nz\n");
    expect(readFileSync(join(root, "new"), "utf8")).toBe("x\ny\nz\n");
  });

  it("stages deletions, intended additions and renames, and leaves a new mode unstaged", async () => {
    const text = numbers(1, 30).join("");
    const { root, at, unstaged, staged } = repositoryWith({
      gone: "1\n2\n",
      old: text,
      link: "x\n",
      mode: "m\n",
    });
    unlinkSync(join(root, "gone"));
    let [id] = await unstaged({ paths: ["gone"] });
    await at("git_add", { hunks: [`${id}:1`] });
    expect(staged("gone").toString()).toBe("2\n");
    [id] = await unstaged({ paths: ["gone"] });
    await at("git_add", { hunks: [id] });
    expect(git(root, "ls-files", "gone")).toBe("");
    git(root, "mv", "old", "new");
    git(root, "reset", "--quiet");
    write(root, "new", text.replace("line 3\n", "three\n").replace("line 20\n", "twenty\n"));
    git(root, "add", "--intent-to-add", "new");
    const ids = await unstaged();
    await at("git_add", { hunks: [ids.at(-1)] });
    expect(staged("new").toString()).toBe(text.replace("line 20\n", "twenty\n"));
    expect(git(root, "ls-files", "old")).toBe("");
  });

  it("is refused for files that need the user's filter", async () => {
    const { root, at, unstaged } = repositoryWith({ a: "1\n" });
    write(root, "a", "2\n");
    const [id] = await unstaged();
    write(root, ".git/info/attributes", "a filter=lock\n");
    git(root, "config", "filter.lock.clean", "tr 2 3");
    expect((await failureOf(at("git_add", { hunks: [id] }))).code).toBe("filter_needed");
    expect(git(root, "diff", "--cached")).toBe("");
  });

  it("of random edits equals applying exactly these changes (60 files)", async () => {
    let seed = 33;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const ends = ["\n", "\n", "\n", "\r\n"];
    const line = () => `${["", "a", "b", "c", "}", "\xe9"][random(6)]}${ends[random(4)]}`;
    const text = (count: number) => {
      const lines = Array.from({ length: count }, line);
      if (random(3) === 0 && lines.length > 0) lines.push("end");
      return lines;
    };
    const edit = (lines: readonly string[]): string[] => {
      const edited = [...lines];
      for (let count = random(6); count >= 0; count--)
        edited.splice(
          random(edited.length + 1),
          random(3),
          ...text(random(3)).filter((one) => one.endsWith("\n")),
        );
      return edited.map((one, index) =>
        index < edited.length - 1 && !one.endsWith("\n") ? `${one}\n` : one,
      );
    };
    const before = new Map(
      Array.from({ length: 60 }, (_, index) => [`f${index}`, text(random(40))]),
    );
    const bytes = (lines: readonly string[]) => Buffer.from(lines.join(""), "latin1");
    const { root, at } = repositoryWith(
      Object.fromEntries([...before].map(([path, lines]) => [path, bytes(lines)])),
    );
    const after = new Map([...before].map(([path, lines]) => [path, edit(lines)]));
    for (const [path, lines] of after) write(root, path, bytes(lines));
    const patch = git(root, "diff", "--no-renames");
    const chosen: string[] = [];
    let page = await at("git_diff_unstaged");
    for (let ids = idsIn(page.text); ; ids = idsIn(page.text)) {
      chosen.push(...ids.filter(() => random(2) === 0));
      const cursor = /cursor "([^"]+)"/.exec(page.text)?.[1];
      if (cursor === undefined) break;
      page = await at("git_diff_unstaged", { cursor });
    }
    expect(chosen.length).toBeGreaterThan(50);
    for (let start = 0; start < chosen.length; start += 40)
      await at("git_add", { hunks: chosen.slice(start, start + 40) });
    // What is staged and what is left together are all changes, and each side is complete.
    const left = idsIn((await at("git_diff_unstaged", { context_lines: 1 })).text);
    expect(chosen.filter((id) => left.includes(id))).toEqual([]);
    for (const [path, lines] of after)
      expect(readFileSync(join(root, path)).equals(bytes(lines)), path).toBe(true);
    const rest = git(root, "diff", "--no-renames");
    write(
      root,
      "../rest.patch",
      Buffer.from(execFileSync("git", ["diff", "--binary"], { cwd: root })),
    );
    git(root, "apply", "--cached", "../rest.patch");
    // The files are as written (above), and the index now equals them.
    expect(git(root, "diff-files", "--patch")).toBe("");
    expect(rest.length).toBeLessThan(patch.length);
  });
});

describe("git_reset, git_restore and git_commit with hunks", () => {
  const changed = () => {
    const made = repositoryWith({ a: numbers(1, 40).join(""), other: "1\n" });
    const lines = numbers(1, 40);
    lines[4] = "FIVE\n";
    lines[19] = "TWENTY\n";
    lines[34] = "35\n";
    write(made.root, "a", lines.join(""));
    return { ...made, lines };
  };

  it("unstage exactly these", async () => {
    const { root, at, staged, lines } = changed();
    git(root, "add", "a");
    const ids = idsIn((await at("git_diff_staged")).text);
    const { data } = await at("git_reset", { hunks: [ids[1]] });
    expect(data).toMatchObject({ files: [{ path: "a", status: "modified" }], count: 1 });
    expect(staged("a").toString()).toBe(lines.with(19, "line 20\n").join(""));
    expect(readFileSync(join(root, "a"), "utf8")).toBe(lines.join(""));
    expect((await failureOf(at("git_reset", { hunks: [ids[0]], files: ["a"] }))).code).toBe(
      "bad_hunk",
    );
  });

  it("discard exactly these, and keep them under a recovery ref", async () => {
    const { root, at, unstaged, lines } = changed();
    const ids = await unstaged();
    git(root, "config", "core.autocrlf", "false");
    const { data } = await at("git_restore", { hunks: [ids[0], `${ids[2]}:2`] });
    const left = lines.with(4, "line 5\n").toSpliced(34, 1);
    expect(readFileSync(join(root, "a"), "utf8")).toBe(left.join(""));
    await at("git_restore", { source: String(data.recovery), files: ["a"] });
    expect(readFileSync(join(root, "a"), "utf8")).toBe(lines.join(""));
    expect((await failureOf(at("git_restore", { hunks: ids, staged: true }))).code).toBe(
      "bad_hunk",
    );
    expect((await failureOf(at("git_restore"))).code).toBe("nothing_named");
  });

  it("commit exactly these, and leave everything else staged or unstaged", async () => {
    const { root, at, unstaged, lines } = changed();
    const ids = await unstaged();
    await at("git_add", { hunks: [ids[0]] });
    write(root, "new", "n\n");
    write(root, "other", "2\n");
    git(root, "add", "other");
    const { data } = await at("git_commit", { message: "One", hunks: [ids[1]], files: ["new"] });
    expect(data).toMatchObject({
      files: 2,
      insertions: 2,
      deletions: 1,
      remaining: "2 staged, 1 unstaged",
    });
    const base = numbers(1, 40);
    expect(git(root, "show", "HEAD:a")).toBe(base.with(19, "TWENTY\n").join(""));
    expect(git(root, "show", "HEAD:other")).toBe("1\n");
    expect(git(root, "show", ":a")).toBe(lines.with(34, "line 35\n").join(""));
    expect(git(root, "status", "--porcelain")).toBe("MM a\nM  other\n");
    expect(readFileSync(join(root, "a"), "utf8")).toBe(lines.join(""));
    await at("git_commit", { message: "Amended", hunks: [ids[2]], amend: true });
    expect(git(root, "show", "HEAD:a")).toBe(base.with(19, "TWENTY\n").with(34, "35\n").join(""));
    expect(git(root, "rev-list", "--count", "HEAD").trim()).toBe("2");
  });

  it("commit nothing if staged changes are in the way, or an operation is in progress", async () => {
    const { root, at, unstaged, lines } = changed();
    git(root, "add", "a");
    write(root, "a", lines.with(4, "five\n").join(""));
    const [id] = await unstaged();
    const before = git(root, "ls-files", "--stage");
    expect((await failureOf(at("git_commit", { message: "x", hunks: [id] }))).code).toBe(
      "conflict",
    );
    write(root, ".git/MERGE_HEAD", git(root, "rev-parse", "HEAD"));
    const error = await failureOf(at("git_commit", { message: "x", hunks: [id] }));
    expect(error.code).toBe("operation_in_progress");
    expect(git(root, "ls-files", "--stage")).toBe(before);
    expect(git(root, "rev-list", "--count", "HEAD").trim()).toBe("1");
    expect(existsSync(join(root, ".git", "index.lock"))).toBe(false);
  });
});
