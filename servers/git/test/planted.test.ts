import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, emptyRepository, git, place, useTestDirectory } from "./fixture.ts";
import { canary, executable, set } from "./traps.ts";

// Files in an untrusted git directory that git trusts: the index, and the state of an operation in progress.
useTestDirectory();

/** An empty repository in the only allowed directory, next to a secret. */
function repository() {
  fs.rmSync(place.path("in"), { recursive: true, force: true });
  const made = at(emptyRepository(place.path("in", "repo")), {}, place.path("in"));
  made.write("../../out/secret.txt", "TOPSECRET\n");
  return made;
}

describe("an index with a path outside the working tree", () => {
  const outside = "../../out/secret.txt";

  /** A repository whose index has one path replaced by another of the same length. */
  function planted(path: string, ...setup: readonly string[]) {
    const made = repository();
    const harmless = "a".repeat(path.length);
    made.commit("Sample", { [harmless]: "planted\n", "z.txt": "z\n" });
    if (setup.length > 0) made.git(...setup);
    const directory = join(made.root, ".git");
    /** Replaces a text and writes the file's new checksum; returns both as Latin-1. */
    const replace = (name: string, from: string, to: string): [before: string, after: string] => {
      const text = fs.readFileSync(join(directory, name), "latin1");
      const bytes = Buffer.from(text.slice(0, -20).replace(from, to), "latin1");
      const sum = createHash("sha1").update(bytes).digest();
      fs.writeFileSync(join(directory, name), Buffer.concat([bytes, sum]));
      return [text.slice(-20), sum.toString("latin1")];
    };
    for (const name of fs.readdirSync(directory).filter((file) => /^sharedindex/.test(file))) {
      const [before, after] = replace(name, harmless, path);
      replace("index", before, after);
      const hex = Buffer.from(after, "latin1").toString("hex");
      fs.renameSync(join(directory, name), join(directory, `sharedindex.${hex}`));
    }
    replace("index", harmless, path);
    return made;
  }

  it.each([
    ["version 2", []],
    ["version 3", ["update-index", "--skip-worktree", "z.txt"]],
    ["version 4", ["update-index", "--index-version=4"]],
    ["a split index", ["update-index", "--split-index"]],
  ])("is followed by plain git, and by no tool: %s", async (form, setup) => {
    const { root, code, git: plain, read } = planted(outside, ...setup);
    expect(plain("diff")).toContain("TOPSECRET");
    expect(await code("git_diff_unstaged")).toBe("corrupt_index");
    if (form !== "version 2") return;
    const index = fs.readFileSync(join(root, ".git", "index"));
    for (const [tool, args] of [
      ["git_grep", { pattern: "TOPSECRET" }],
      ["git_add", { files: ["."] }],
      ["git_restore", { files: ["."] }],
      ["git_reset_hard", {}],
      ["git_checkout", { branch_name: "main" }],
      ["git_add", { hunks: ["3fa01c2"] }],
    ] as const)
      expect(await code(tool, args), tool).toBe("corrupt_index");
    expect(read("../../out/secret.txt")).toBe("TOPSECRET\n");
    expect(fs.readFileSync(join(root, ".git", "index")).equals(index)).toBe(true);
  });

  it("is refused, also in forms that some file systems treat as the git directory", async () => {
    // The last has U+200C, one character for each byte.
    const paths = ["/etc/passwd", "a/../../x", ".git/hooks/pre-commit", "x/.GIT/config"];
    const other = ["git~1/hooks", "x/GIT~2/config", ".git /config", ".git./config", ".git::$I/x"];
    for (const path of [...paths, ...other, ".g\xe2\x80\x8cit/config"])
      expect(await planted(path).code("git_status"), path).toBe("corrupt_index");
    for (const path of ["..a/b..", ".gitignore", "...", "a/.git.txt", "git~x/a", "digit~1"])
      await planted(path).call("git_status");
  });
});

describe("the state of an operation", () => {
  /** Two branches that conflict in f. */
  function diverged() {
    const made = repository();
    const { commit, git: plain } = made;
    commit("Base", { f: "base\n" });
    plain("checkout", "--quiet", "-b", "side");
    commit("Theirs", { f: "theirs\n", g: "g\n" });
    commit("More", { h: "h\n" });
    plain("checkout", "--quiet", "main");
    commit("Ours", { f: "ours\n" });
    const stop = (...args: string[]) => {
      expect(() => plain(...args)).toThrow();
      made.write("f", "resolved\n");
      plain("add", "f");
    };
    const continued = (tool: string) => made.code(tool, { action: "continue" });
    return { ...made, stop, continued, trap: canary(place.path("in", "evil")) };
  }

  it("executes no line of a rebase todo list", async () => {
    const { stop, continued, git: plain, trap, write } = diverged();
    stop("rebase", "side");
    for (const line of ["exec", "x", "  exec"]) {
      write(".git/rebase-merge/git-rebase-todo", `${line} ${trap.program}\n`);
      expect(await continued("git_rebase"), line).toBe("unsafe_operation");
    }
    expect(fs.existsSync(trap.log)).toBe(false);
    plain("-c", "core.editor=:", "rebase", "--continue");
    expect(fs.existsSync(trap.log), "no trap").toBe(true);
  });

  it("executes no merge strategy that it specifies", async () => {
    const { root, stop, continued, git: plain, trap, write } = diverged();
    // git runs git-merge-NAME, from the working tree if NAME contains a slash.
    executable(join(root, "git-merge-x", "evil"), `exec "${trap.program}"`);
    stop("rebase", "side");
    write(".git/rebase-merge/strategy", "x/evil");
    expect(await continued("git_rebase")).toBe("unsafe_operation");
    plain("rebase", "--abort");
    stop("cherry-pick", "side~1", "side");
    write(".git/sequencer/opts", '[options] strategy = "x/evil"\n');
    expect(await continued("git_cherry_pick")).toBe("unsafe_operation");
    expect(fs.existsSync(trap.log)).toBe(false);
    expect(() => plain("-c", "core.editor=:", "cherry-pick", "--continue")).toThrow();
    expect(fs.existsSync(trap.log), "no trap").toBe(true);
  });

  it.each([
    [["rebase", "--merge", "side"], "rebase-merge/gpg_sign_opt", "-S\n"],
    [["rebase", "--apply", "side"], "rebase-apply/gpg_sign_opt", "-S\n"],
    [["cherry-pick", "side~1", "side"], "sequencer/opts", "[options]\n\tgpg-sign = \n"],
  ])("signs nothing: %s", async (start, file, option) => {
    const { stop, continued, git: plain, trap, write } = diverged();
    git(place.folder, "config", "--global", "gpg.program", trap.program);
    stop(...start);
    write(`.git/${file}`, option);
    const [operation = ""] = start;
    expect(await continued(`git_${operation.replace("-", "_")}`)).toBe("unsafe_operation");
    expect(fs.existsSync(trap.log)).toBe(false);
    expect(() => plain("-c", "core.editor=:", operation, "--continue")).toThrow();
    expect(fs.existsSync(trap.log), "no trap").toBe(true);
  });

  it("copies no file from outside (MERGE_RR)", async () => {
    const plant = () => {
      const made = diverged();
      set(made.root, ["rerere.enabled", "true"]);
      expect(() => made.git("merge", "side")).toThrow();
      const [id = ""] = fs.readdirSync(join(made.root, ".git", "rr-cache"));
      made.git("reset", "--hard", "--quiet");
      made.write(".git/MERGE_RR", `${id}\t../../out/secret.txt\0`);
      made.write("new.txt", "new\n");
      return made;
    };
    const victim = plant();
    victim.git("add", "new.txt");
    victim.git("commit", "--quiet", "-m", "New");
    expect(() => victim.git("merge", "side")).toThrow();
    expect(victim.read("f"), "no trap").toBe("TOPSECRET\n");
    const { call, read } = plant();
    await call("git_commit", { message: "New", files: ["new.txt"] });
    await call("git_merge", { revision: "side", on_conflict: "keep" });
    expect(read("f")).toContain("<<<<<<<");
  });
});
