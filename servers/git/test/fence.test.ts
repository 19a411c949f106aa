import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commitFiles, emptyRepository, git, type Scratch, scratch, write } from "./fixture.ts";
import { canary, configText, submodule } from "./traps.ts";
import { ALL_TOOLS } from "./world.ts";

// What a repository from somebody else cannot make the server do, as a client sees it.
let place: Scratch;
let server: Connected;
let outside: string;
let trap: ReturnType<typeof canary>;
let counter = 0;

beforeAll(async () => {
  place = scratch();
  trap = canary(place.path("evil"));
  outside = emptyRepository(place.path("out", "repo"));
  commitFiles(outside, "Secret commit", { "secret.txt": "TOPSECRET\n" });
  mkdirSync(place.path("in"));
  // The user's own program for signatures.
  git(place.folder, "config", "--global", "gpg.program", trap.program);
  server = await connectStdio(join(import.meta.dirname, "../dist/bin.js"), {
    args: [place.path("in"), ...ALL_TOOLS],
    elicit: () => ({ action: "accept", content: { confirm: true } }),
  });
});
afterAll(async () => {
  await server?.close();
  place.dispose();
});
beforeEach(() => rmSync(trap.log, { force: true }));

/** Calls a tool; returns all text of its answer. */
async function call(tool: string, root: string, args: object = {}): Promise<string> {
  const result = await server.client.callTool({
    name: tool,
    arguments: { repo_path: root, ...args },
  });
  return JSON.stringify(result);
}

const path = () => place.path("in", `repo-${counter++}`);

/** A repository with one commit. */
function repository(files: Readonly<Record<string, string>> = { "a.txt": "a\n" }): string {
  const root = emptyRepository(path());
  commitFiles(root, "First", files);
  return root;
}

/** A linked worktree w, and a file of the user outside. */
function worktree(): { root: string; secret: string } {
  const root = repository();
  git(root, "worktree", "add", "--quiet", "-b", "w", `${root}-linked`);
  renameSync(
    join(root, ".git", "worktrees", `${root.split("/").at(-1)}-linked`),
    join(root, ".git", "worktrees", "w"),
  );
  return { root, secret: join(outside, "secret.txt") };
}
/** The error of a git directory that git itself would not make. */
const REFUSED = /unsafe_(git_directory|config)|outside_roots/;

const filter = () => configText([["filter.x.smudge", trap.program]]);
const CORE = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const FILES = { ".gitattributes": "*.x filter=x\n", "a.x": "a\n", cfg: CORE };

/** A stash that replaces the configuration, and adds a file that its filter would check out. */
function stashed(root: string, config: string): string {
  write(root, config, CORE + filter());
  write(root, "fresh.x", "fresh\n");
  git(root, "-c", "core.attributesFile=/dev/null", "stash", "push", "--quiet", "-u");
  expect(existsSync(trap.log)).toBe(false);
  return root;
}

describe("a configuration that is a file of the working tree executes nothing", () => {
  const linked = () => {
    const root = repository(FILES);
    rmSync(join(root, ".git", "config"));
    symlinkSync("../cfg", join(root, ".git", "config"));
    return root;
  };
  const moved = () => {
    const root = repository({ ...FILES, "g/config": CORE });
    for (const name of ["HEAD", "objects", "refs", "index", "logs"])
      renameSync(join(root, ".git", name), join(root, "g", name));
    rmSync(join(root, ".git"), { recursive: true });
    writeFileSync(join(root, ".git"), "gitdir: g\n");
    write(root, ".gitignore", "/g/*\n!/g/config\n");
    git(root, "add", ".gitignore");
    git(root, "commit", "--quiet", "-m", "Ignore");
    return root;
  };
  const included = () => {
    const root = repository(FILES);
    appendFileSync(join(root, ".git", "config"), configText([["include.path", "../cfg"]]));
    return root;
  };

  const forms = [
    ["a link as .git/config", linked, "cfg"],
    ["a git directory below the working tree", moved, "g/config"],
    ["an include", included, "cfg"],
  ] as const;

  it.each(forms)("%s, with git_stash_apply", async (_, make, config) => {
    const root = stashed(make(), config);
    const answer = await call("git_stash_apply", root);
    expect(existsSync(trap.log)).toBe(false);
    expect(answer).toMatch(REFUSED);
    git(root, "stash", "apply", "--quiet");
    expect(existsSync(trap.log), "no trap").toBe(true);
  });

  it.each(forms)("%s, with git_stash and keep_index", async (_, make, config) => {
    const root = make();
    write(root, config, CORE + filter());
    git(root, "commit", "--quiet", "-am", "Filter");
    write(root, "a.x", "staged\n");
    git(root, "add", ".");
    write(root, config, CORE);
    write(root, "a.x", "work\n");
    const answer = await call("git_stash", root, { keep_index: true });
    expect(existsSync(trap.log)).toBe(false);
    expect(answer).toMatch(REFUSED);
    git(root, "stash", "push", "--quiet", "--keep-index");
    expect(existsSync(trap.log), "no trap").toBe(true);
  });

  it("the git directory of a submodule, with git_stash_apply", async () => {
    const root = repository(FILES);
    submodule(root);
    renameSync(join(root, ".git", "modules", "sub"), join(root, "g"));
    write(root, "sub/.git", "gitdir: ../g\n");
    git(root, "config", "--file", "g/config", "core.worktree", "../sub");
    write(root, ".gitignore", "/g/*\n!/g/config\n");
    git(root, "add", ".gitignore", "g/config");
    git(root, "commit", "--quiet", "-m", "Harmless");
    git(root, "config", "--file", "g/config", "filter.inner.clean", trap.program);
    git(root, "stash", "push", "--quiet", "g/config");
    rmSync(trap.log, { force: true });
    const answer = await call("git_stash_apply", root);
    expect(existsSync(trap.log)).toBe(false);
    expect(answer).toMatch(REFUSED);
    git(root, "checkout", "--quiet", ".");
    git(root, "stash", "apply");
    expect(existsSync(trap.log), "no trap").toBe(true);
  });

  it("a working tree in the git directory, with git_restore", async () => {
    const root = repository({ attributes: "* filter=x\n" });
    mkdirSync(join(root, ".git", "info"), { recursive: true });
    git(root, "config", "core.worktree", "info");
    const answer = await call("git_restore", root, { files: ["attributes"] });
    expect(existsSync(join(root, ".git", "info", "attributes"))).toBe(false);
    expect(answer).toMatch(REFUSED);
  });
});

describe("a link in a git directory leads no call to another file", () => {
  const link = (root: string, name: string, target: string) => {
    rmSync(join(root, ".git", name), { recursive: true, force: true });
    symlinkSync(target, join(root, ".git", name));
  };

  it.each(["worktrees/w/gitdir", "worktrees/w/locked"])("%s", async (name) => {
    const { root, secret } = worktree();
    link(root, name, secret);
    const answer = await call("git_list_refs", root, { kind: "worktrees" });
    expect(answer).not.toContain("TOPSECRET");
    expect(answer).toMatch(REFUSED);
  });

  it("worktrees/w, a whole worktree", async () => {
    const { root } = worktree();
    const hidden = worktree().root;
    link(root, "worktrees/w", join(hidden, ".git", "worktrees", "w"));
    const answer = await call("git_list_refs", root, { kind: "worktrees" });
    expect(answer).not.toContain(`${hidden}-linked`);
    expect(answer).toMatch(REFUSED);
  });

  it("a pack of another repository", async () => {
    const root = repository();
    git(outside, "repack", "--quiet", "-ad");
    const blob = git(outside, "rev-parse", "HEAD:secret.txt").trim();
    const packs = join(outside, ".git", "objects", "pack");
    mkdirSync(join(root, ".git/objects/pack"), { recursive: true });
    for (const name of readdirSync(packs)) link(root, `objects/pack/${name}`, join(packs, name));
    const answer = await call("git_show", root, { revision: blob });
    expect(answer).not.toContain("TOPSECRET");
    expect(answer).toMatch(REFUSED);
  });

  it("the steps of a rebase, which a checkout would replace", async () => {
    const root = repository({ "a.txt": "a\n", todo: "noop\n" });
    git(root, "checkout", "--quiet", "-b", "side");
    commitFiles(root, "Side", { todo: `exec ${trap.program}\n`, "a.txt": "side\n" });
    commitFiles(root, "More", { "b.txt": "b\n" });
    git(root, "checkout", "--quiet", "main");
    commitFiles(root, "Main", { "a.txt": "main\n" });
    expect(() => git(root, "rebase", "side")).toThrow();
    git(root, "checkout", "--theirs", ".");
    git(root, "add", ".");
    const steps = ".git/rebase-merge/git-rebase-todo";
    write(root, "todo", readFileSync(join(root, steps), "utf8"));
    link(root, "rebase-merge/git-rebase-todo", "../../todo");
    const answer = await call("git_rebase", root, { action: "continue" });
    expect(existsSync(trap.log)).toBe(false);
    expect(answer).toMatch(REFUSED);
  });

  it("but hooks and locks of Emacs may be links", async () => {
    const root = repository();
    link(root, "hooks", "../hooks");
    link(root, ".#COMMIT_EDITMSG", "user@host.1:2");
    expect(await call("git_log", root)).toContain("First");
  });
});

describe("a file that leads to another directory is read as git reads it, or not at all", () => {
  const SPACE = Buffer.from("x ");
  const BYTE = Buffer.from([0x78, 0xff]);
  const NUL = Buffer.from("x\0junk");

  /** Makes `git branch` write into a repository outside, by a name whose decoded or trimmed form is a harmless one. */
  function decoy(name: Buffer): string {
    const root = repository();
    const directory = `${root}-shared`;
    mkdirSync(directory);
    const raw = name
      .subarray(0, name.indexOf(0) + 1 || undefined)
      .toString("latin1")
      .replace("\0", "");
    for (const harmless of new Set(["x", name.toString("utf8")]))
      if (harmless !== raw && !harmless.includes("\0"))
        symlinkSync(join(root, ".git"), join(directory, harmless));
    symlinkSync(
      join(outside, ".git"),
      Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(raw, "latin1")]),
    );
    const line = Buffer.concat([Buffer.from(`${directory}/`), name, Buffer.from("\n")]);
    writeFileSync(join(root, ".git", "commondir"), line);
    return root;
  }

  it.each([
    ["a space", SPACE],
    ["a byte that is not UTF-8", BYTE],
    ["a NUL", NUL],
  ])("commondir with %s", async (_, name) => {
    const root = decoy(name);
    expect(git(root, "log"), "no trap").toContain("Secret commit");
    const branch = `b-${counter++}`;
    const answers = [
      await call("git_log", root),
      await call("git_show", root, { revision: "HEAD" }),
      await call("git_create_branch", root, { branch_name: branch }),
      await call("git_create_tag", root, { tag_name: branch, revision: "HEAD" }),
      await call("git_set_remote", root, { remote: branch, url: "https://example.org/x.git" }),
    ];
    expect(answers.join()).not.toContain("Secret commit");
    expect(git(outside, "for-each-ref")).not.toContain(branch);
    expect(git(outside, "config", "--list")).not.toContain(branch);
    for (const answer of answers) expect(answer).toMatch(REFUSED);
  });

  it("commondir through a link and back", async () => {
    const root = repository();
    symlinkSync("..", join(root, "up"));
    write(root, ".git/commondir", "../up/../out/repo/.git\n");
    expect(git(root, "log"), "no trap").toContain("Secret commit");
    const answer = await call("git_create_branch", root, { branch_name: `b-${counter}` });
    expect(git(outside, "for-each-ref")).not.toContain(`b-${counter}`);
    expect(answer).toMatch(REFUSED);
  });

  it("an include through a link and back", async () => {
    const root = repository();
    git(outside, "remote", "add", "private", "https://secret.example.org/x.git");
    symlinkSync("..", join(root, "up"));
    git(root, "config", "include.path", "../up/../out/repo/.git/config");
    expect(git(root, "remote"), "no trap").toContain("private");
    const answer = await call("git_list_refs", root, { kind: "remotes" });
    expect(answer).not.toContain("secret.example.org");
    expect(answer).toMatch(REFUSED);
  });

  it("commondir of a linked worktree", async () => {
    const { root } = worktree();
    write(root, ".git/worktrees/w/commondir", join(outside, ".git"));
    write(root, ".git/worktrees/w/HEAD", "ref: refs/heads/main\n");
    const secret = git(outside, "rev-parse", "--short=10", "HEAD").trim();
    expect(git(root, "worktree", "list", "--porcelain"), "no trap").toContain(secret);
    const answer = await call("git_list_refs", root, { kind: "worktrees" });
    expect(answer).not.toContain(secret);
    expect(answer).toMatch(REFUSED);
  });

  /** Files of alternates that git follows outside, and whose other meanings are harmless. */
  const ALTERNATES: Record<string, (root: string, objects: string) => string | Buffer> = {
    "in quotes": (_, objects) => `"\\057${objects.slice(1)}"\n`,
    "after one in quotes": (root, objects) => `"${root}"x${objects}\n`,
    "with a byte that is not UTF-8": (root, objects) => {
      const path = Buffer.from(`${root}/x\xff`, "latin1");
      symlinkSync(objects, path);
      mkdirSync(path.toString("utf8"));
      return path;
    },
    "of a hundred others": (root, objects) => {
      const names = Array.from({ length: 110 }, (_, at) => join(root, `alternate-${at}`));
      for (const name of names) mkdirSync(name);
      write(root, "alternate-0/info/alternates", objects);
      return names.join("\n");
    },
  };

  it.each(Object.entries(ALTERNATES))("alternates %s", async (_, make) => {
    const root = repository();
    const blob = git(outside, "rev-parse", "HEAD:secret.txt").trim();
    write(root, ".git/objects/info/alternates", make(root, join(outside, ".git", "objects")));
    expect(git(root, "cat-file", "-p", blob), "no trap").toContain("TOPSECRET");
    const answer = await call("git_show", root, { revision: blob });
    expect(answer).not.toContain("TOPSECRET");
    expect(answer).toMatch(REFUSED);
  });
});

describe("a git directory stops or uses nothing of the user's", () => {
  it("a pipe in one repository leaves the others working", async () => {
    const healthy = repository();
    for (const name of ["commondir", "index", "HEAD", "objects/info/alternates", "index"]) {
      const root = repository();
      rmSync(join(root, ".git", name), { force: true });
      mkdirSync(join(root, ".git/objects/info"), { recursive: true });
      execFileSync("mkfifo", [join(root, ".git", name)]);
      expect(await call("git_status", root), name).toMatch(REFUSED);
    }
    expect(await call("git_log", healthy)).toContain("First");
  });

  it("a device as a file is not read", async () => {
    for (const name of ["commondir", "objects/info/alternates"]) {
      const root = repository();
      mkdirSync(join(root, ".git/objects/info"), { recursive: true });
      symlinkSync("/dev/zero", join(root, ".git", name));
      expect(await call("git_log", root), name).toMatch(REFUSED);
    }
    const root = repository();
    write(root, ".git/commondir", `${"/".repeat(2_000_000)}\n`);
    expect(await call("git_log", root)).toMatch(REFUSED);
  });

  it("100,000 tags on one commit don't stop git_log and git_show", async () => {
    const root = repository();
    const head = git(root, "rev-parse", "HEAD").trim();
    const tags = Array.from({ length: 100_000 }, (_, at) => `${head} refs/tags/t${100_000 + at}\n`);
    write(
      root,
      ".git/packed-refs",
      `# pack-refs with: peeled fully-peeled sorted \n${tags.join("")}`,
    );
    for (const tool of ["git_log", "git_show"]) {
      const answer = await call(tool, root, { revision: "HEAD" });
      expect(answer, tool).toContain("HEAD -> main, tag: t199999, tag: t199998");
      expect(answer, tool).toContain("… 99,951 more");
    }
  });

  it.each(["--merge", "--apply"])(
    "a rebase (%s) that came with the repository signs nothing",
    async (kind) => {
      const root = repository();
      git(root, "checkout", "--quiet", "-b", "side");
      commitFiles(root, "Side", { "a.txt": "side\n" });
      git(root, "checkout", "--quiet", "main");
      commitFiles(root, "Main", { "a.txt": "main\n" });
      expect(() => git(root, "rebase", kind, "side")).toThrow();
      write(root, "a.txt", "resolved\n");
      git(root, "add", ".");
      const state = kind === "--merge" ? "rebase-merge" : "rebase-apply";
      write(root, `.git/${state}/gpg_sign_opt`, "-S\n");
      const answer = await call("git_rebase", root, { action: "continue" });
      expect(existsSync(trap.log)).toBe(false);
      expect(answer).toContain("unsafe_operation");
      expect(() => git(root, "-c", "core.editor=:", "rebase", "--continue")).toThrow();
      expect(existsSync(trap.log), "no trap").toBe(true);
    },
  );

  it("a cherry-pick that came with the repository signs nothing", async () => {
    const root = repository();
    git(root, "checkout", "--quiet", "-b", "side");
    commitFiles(root, "Side", { "a.txt": "side\n" });
    commitFiles(root, "More", { "b.txt": "b\n" });
    git(root, "checkout", "--quiet", "main");
    commitFiles(root, "Main", { "a.txt": "main\n" });
    expect(() => git(root, "cherry-pick", "side~1", "side")).toThrow();
    write(root, "a.txt", "resolved\n");
    git(root, "add", ".");
    write(root, ".git/sequencer/opts", "[options]\n\tgpg-sign = \n");
    const answer = await call("git_cherry_pick", root, { action: "continue" });
    expect(existsSync(trap.log)).toBe(false);
    expect(answer).toContain("unsafe_operation");
    expect(() => git(root, "-c", "core.editor=:", "cherry-pick", "--continue")).toThrow();
    expect(existsSync(trap.log), "no trap").toBe(true);
  });
});
