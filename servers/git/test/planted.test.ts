import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  commitFiles,
  emptyRepository,
  git,
  gitOver,
  place,
  useTestDirectory,
  write,
} from "./fixture.ts";
import { canary, executable, set } from "./traps.ts";

// Files in an untrusted git directory that git trusts: the index, and the state of an operation in progress.
useTestDirectory();

const inside = () => gitOver([place.path("in")]);

describe("an index with a path outside the working tree", () => {
  const outside = "../../out/secret.txt";

  /** A repository whose index has one path replaced by another of the same length. */
  function planted(path: string, ...setup: readonly (readonly string[])[]): string {
    write(place.path("out"), "secret.txt", "TOPSECRET\n");
    rmSync(place.path("in"), { recursive: true, force: true });
    const root = emptyRepository(place.path("in", "repo"));
    const harmless = "a".repeat(path.length);
    commitFiles(root, "Sample", { [harmless]: "planted\n", "z.txt": "z\n" });
    for (const args of setup) git(root, ...args);
    const directory = join(root, ".git");
    /** Replaces a text and writes the file's new checksum; returns both as Latin-1. */
    const replace = (name: string, from: string, to: string): [before: string, after: string] => {
      const text = readFileSync(join(directory, name), "latin1");
      const bytes = Buffer.from(text.slice(0, -20).replace(from, to), "latin1");
      const sum = createHash("sha1").update(bytes).digest();
      writeFileSync(join(directory, name), Buffer.concat([bytes, sum]));
      return [text.slice(-20), sum.toString("latin1")];
    };
    for (const shared of readdirSync(directory).filter((name) => name.startsWith("sharedindex"))) {
      const [before, after] = replace(shared, harmless, path);
      replace("index", before, after);
      const hex = Buffer.from(after, "latin1").toString("hex");
      renameSync(join(directory, shared), join(directory, `sharedindex.${hex}`));
    }
    replace("index", harmless, path);
    return root;
  }
  const forms: readonly (readonly [name: string, setup: string[][]])[] = [
    ["version 2", []],
    ["version 3", [["update-index", "--skip-worktree", "z.txt"]]],
    ["version 4", [["update-index", "--index-version=4"]]],
    ["a split index", [["update-index", "--split-index"]]],
  ];

  it.each(forms)("is followed by plain git, and by no tool: %s", async (_, setup) => {
    const root = planted(outside, ...setup);
    expect(git(root, "diff")).toContain("TOPSECRET");
    const unstaged = callTool(inside(), "git_diff_unstaged", { repo_path: root });
    expect(await codeOf(unstaged)).toBe("corrupt_index");
  });

  it("is refused, also in forms that some file systems treat as the git directory", async () => {
    const code = (path: string) =>
      callTool(inside(), "git_status", { repo_path: planted(path) }).then(
        () => undefined,
        (error) => error.code,
      );
    // The last has U+200C, one character for each byte.
    const outside = ["/etc/passwd", "a/../../x", ".git/hooks/pre-commit", "x/.GIT/config"];
    const other = ["git~1/hooks", "x/GIT~2/config", ".git /config", ".git./config", ".git::$I/x"];
    for (const path of [...outside, ...other, ".g\xe2\x80\x8cit/config"])
      expect(await code(path), path).toBe("corrupt_index");
    for (const path of ["..a/b..", ".gitignore", "...", "a/.git.txt", "git~x/a", "digit~1"])
      expect(await code(path), path).toBeUndefined();
  });

  it("leads no tool outside", async () => {
    const calls = [
      ["git_grep", { pattern: "TOPSECRET" }],
      ["git_add", { files: ["."] }],
      ["git_restore", { files: ["."] }],
      ["git_reset_hard", {}],
      ["git_checkout", { branch_name: "main" }],
      ["git_add", { hunks: ["3fa01c2"] }],
    ] as const;
    // No call changes it, so one repository is enough.
    const root = planted(outside);
    const index = readFileSync(join(root, ".git", "index"));
    for (const [tool, args] of calls) {
      const call = `${tool} ${JSON.stringify(args)}`;
      const code = await codeOf(callTool(inside(), tool, { repo_path: root, ...args }));
      expect(code, call).toBe("corrupt_index");
      expect(readFileSync(place.path("out", "secret.txt"), "utf8"), call).toBe("TOPSECRET\n");
      expect(readFileSync(join(root, ".git", "index")).equals(index), call).toBe(true);
    }
  });
});

describe("the state of an operation", () => {
  /** Two branches that conflict in f. */
  function diverged(): string {
    const root = emptyRepository(place.path("in", "repo"));
    commitFiles(root, "Base", { f: "base\n" });
    git(root, "checkout", "--quiet", "-b", "side");
    commitFiles(root, "Theirs", { f: "theirs\n", g: "g\n" });
    commitFiles(root, "More", { h: "h\n" });
    git(root, "checkout", "--quiet", "main");
    commitFiles(root, "Ours", { f: "ours\n" });
    return root;
  }
  const stopped = (root: string, ...args: string[]) => {
    expect(() => git(root, ...args)).toThrow();
    write(root, "f", "resolved\n");
    git(root, "add", "f");
  };
  const continued = (root: string, tool: string) =>
    codeOf(callTool(inside(), tool, { repo_path: root, action: "continue" }));

  it("executes no line of a rebase todo list", async () => {
    const root = diverged();
    const { program, log } = canary(place.path("in", "evil"));
    stopped(root, "rebase", "side");
    const list = join(root, ".git", "rebase-merge", "git-rebase-todo");
    for (const line of ["exec", "x", "  exec"]) {
      writeFileSync(list, `${line} ${program}\n`);
      expect(await continued(root, "git_rebase"), line).toBe("unsafe_operation");
    }
    expect(existsSync(log)).toBe(false);
    git(root, "-c", "core.editor=:", "rebase", "--continue");
    expect(existsSync(log), "no trap").toBe(true);
  });

  it("executes no merge strategy that it specifies", async () => {
    const root = diverged();
    const { program, log } = canary(place.path("in", "evil"));
    // git runs git-merge-NAME, from the working tree if NAME contains a slash.
    mkdirSync(join(root, "git-merge-x"));
    executable(join(root, "git-merge-x", "evil"), `exec "${program}"`);
    stopped(root, "cherry-pick", "side~1", "side");
    writeFileSync(join(root, ".git", "sequencer", "opts"), '[options] strategy = "x/evil"\n');
    expect(await continued(root, "git_cherry_pick")).toBe("unsafe_operation");
    git(root, "cherry-pick", "--abort");
    stopped(root, "rebase", "side");
    writeFileSync(join(root, ".git", "rebase-merge", "strategy"), "x/evil");
    expect(await continued(root, "git_rebase")).toBe("unsafe_operation");
    expect(existsSync(log)).toBe(false);
    git(root, "rebase", "--abort");
    stopped(root, "cherry-pick", "side~1", "side");
    writeFileSync(join(root, ".git", "sequencer", "opts"), '[options] strategy = "x/evil"\n');
    expect(() => git(root, "-c", "core.editor=:", "cherry-pick", "--continue")).toThrow();
    expect(existsSync(log), "no trap").toBe(true);
  });

  it("copies no file from outside (MERGE_RR)", async () => {
    const trap = () => {
      rmSync(place.path("in"), { recursive: true, force: true });
      write(place.path("out"), "secret.txt", "TOPSECRET\n");
      const root = diverged();
      set(root, ["rerere.enabled", "true"]);
      expect(() => git(root, "merge", "side")).toThrow();
      const [id = ""] = readdirSync(join(root, ".git", "rr-cache"));
      git(root, "reset", "--hard", "--quiet");
      writeFileSync(join(root, ".git", "MERGE_RR"), `${id}\t../../out/secret.txt\0`);
      write(root, "new.txt", "new\n");
      return root;
    };
    const merged = (root: string) => readFileSync(join(root, "f"), "utf8");
    const victim = trap();
    git(victim, "add", "new.txt");
    git(victim, "commit", "--quiet", "-m", "New");
    expect(() => git(victim, "merge", "side")).toThrow();
    expect(merged(victim), "no trap").toBe("TOPSECRET\n");
    const root = trap();
    const over = inside();
    await callTool(over, "git_commit", { repo_path: root, message: "New", files: ["new.txt"] });
    await callTool(over, "git_merge", { repo_path: root, revision: "side", on_conflict: "keep" });
    expect(merged(root)).toContain("<<<<<<<");
  });
});
