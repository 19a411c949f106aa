import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import {
  at,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  insideAndOutside,
  matchesIn,
  place,
  sampleRepository,
  useTestDirectory,
  write,
} from "./fixture.ts";
import { callOf } from "./matrix.ts";
import { canary, configText, set, submodule } from "./traps.ts";

// What a repository from somebody else cannot make the server do.
useTestDirectory();

/** The error of a git directory that git itself would not make, or that leads outside. */
const REFUSED = /^(unsafe_git_directory|unsafe_config|outside_roots)$/;
const SECRET = /Secret commit|the secret|secret\.example|out\/repo/;
let outside: string;
let counter = 0;
beforeEach(() => {
  ({ outside } = insideAndOutside());
});

const inside = (root: string) => at(root, {}, place.path("in"));
const call = (tool: string, root: string, args: object = {}) => inside(root).call(tool, args);
const code = (tool: string, root: string, args: object = {}) => inside(root).code(tool, args);
const path = () => place.path("in", `repo-${counter++}`);

/** A repository with one commit. */
function repository(files: Readonly<Record<string, string>> = { "a.txt": "a\n" }): string {
  const root = emptyRepository(path());
  commitFiles(root, "First", files);
  return root;
}

describe("a configuration that is a file of the working tree executes nothing", () => {
  const CORE = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
  const FILES = { ".gitattributes": "*.x filter=x\n", "a.x": "a\n", cfg: CORE };
  const moved = () => {
    const root = repository({ ...FILES, "g/config": CORE });
    for (const name of ["HEAD", "objects", "refs", "index", "logs"])
      fs.renameSync(join(root, ".git", name), join(root, "g", name));
    fs.rmSync(join(root, ".git"), { recursive: true });
    fs.writeFileSync(join(root, ".git"), "gitdir: g\n");
    commitFiles(root, "Ignore", { ".gitignore": "/g/*\n!/g/config\n" });
    return root;
  };
  const included = () => {
    const root = repository(FILES);
    fs.appendFileSync(join(root, ".git", "config"), configText([["include.path", "../cfg"]]));
    return root;
  };

  it.each([
    ["a git directory below the working tree", moved, "g/config"],
    ["an include", included, "cfg"],
  ] as const)("%s, with git_stash_apply", async (_, make, config) => {
    const trap = canary(place.path("evil"));
    const root = make();
    // The stash replaces the configuration, and adds a file that its filter would check out.
    write(root, config, CORE + configText([["filter.x.smudge", trap.program]]));
    write(root, "fresh.x", "fresh\n");
    git(root, "-c", "core.attributesFile=/dev/null", "stash", "push", "--quiet", "-u");
    fs.rmSync(trap.log, { force: true });
    expect(await code("git_stash_apply", root)).toMatch(REFUSED);
    expect(fs.existsSync(trap.log)).toBe(false);
    git(root, "stash", "apply", "--quiet");
    expect(fs.existsSync(trap.log), "no trap").toBe(true);
  });

  it("the git directory of a submodule, with git_stash_apply", async () => {
    const trap = canary(place.path("evil"));
    const root = repository(FILES);
    submodule(root);
    fs.renameSync(join(root, ".git", "modules", "sub"), join(root, "g"));
    write(root, "sub/.git", "gitdir: ../g\n");
    git(root, "config", "--file", "g/config", "core.worktree", "../sub");
    write(root, ".gitignore", "/g/*\n!/g/config\n");
    git(root, "add", ".gitignore", "g/config");
    git(root, "commit", "--quiet", "-m", "Harmless");
    git(root, "config", "--file", "g/config", "filter.inner.clean", trap.program);
    git(root, "stash", "push", "--quiet", "g/config");
    fs.rmSync(trap.log, { force: true });
    expect(await code("git_stash_apply", root)).toMatch(REFUSED);
    expect(fs.existsSync(trap.log)).toBe(false);
    git(root, "checkout", "--quiet", ".");
    git(root, "stash", "apply");
    expect(fs.existsSync(trap.log), "no trap").toBe(true);
  });

  it("a working tree in the git directory, with git_restore", async () => {
    const root = repository({ attributes: "* filter=x\n" });
    fs.mkdirSync(join(root, ".git", "info"), { recursive: true });
    git(root, "config", "core.worktree", "info");
    expect(await code("git_restore", root, { files: ["attributes"] })).toMatch(REFUSED);
    expect(fs.existsSync(join(root, ".git", "info", "attributes"))).toBe(false);
  });
});

/** What plain git prints of the repository outside, and the call that would print it. */
type Trap = [trap: string[], tool: string, args?: object];
const LOG: Trap = [["log"], "git_log"];
const REMOTES: Trap = [["remote", "-v"], "git_list_refs", { kind: "remotes" }];
const TREES: Trap = [["worktree", "list", "--porcelain"], "git_list_refs", { kind: "worktrees" }];
const TOP: Trap = [["rev-parse", "--show-toplevel"], "git_status"];
const link = (root: string, name: string, target: string) => {
  fs.rmSync(join(root, ".git", name), { recursive: true, force: true });
  fs.symlinkSync(target, join(root, ".git", name));
};
/** A secret object, by the objects of another repository. */
const secretOf = (other: string): Trap => {
  const revision = git(other, "rev-parse", "HEAD:secret.txt").trim();
  return [["cat-file", "-p", revision], "git_show", { revision }];
};
const alternates = (root: string, other: string, content: string | Buffer) => {
  write(root, ".git/objects/info/alternates", content);
  return secretOf(other);
};
/** Names the common directory by bytes whose decoded or trimmed form is a harmless one. */
function decoy(root: string, other: string, name: Buffer): Trap {
  const directory = `${root}-shared`;
  fs.mkdirSync(directory);
  const end = name.indexOf(0);
  const raw = end === -1 ? name : name.subarray(0, end);
  for (const harmless of new Set(["x", name.toString("utf8")]))
    if (harmless !== raw.toString("latin1") && !harmless.includes("\0"))
      fs.symlinkSync(join(root, ".git"), join(directory, harmless));
  fs.symlinkSync(join(other, ".git"), Buffer.concat([Buffer.from(`${directory}/`), raw]));
  const line = [Buffer.from(`${directory}/`), name, Buffer.from("\n")];
  fs.writeFileSync(join(root, ".git", "commondir"), Buffer.concat(line));
  return LOG;
}
/** A linked worktree w of the repository. */
function worktree(root: string): void {
  git(root, "worktree", "add", "--quiet", "-b", "w", place.path("in", "w"));
}

/** Ways in which a git directory leads plain git to a repository outside. */
const WAYS: Readonly<Record<string, (root: string, other: string) => Trap>> = {
  "a .git that is a link": (root, other) => {
    fs.rmSync(join(root, ".git"), { recursive: true });
    fs.symlinkSync(join(other, ".git"), join(root, ".git"));
    return LOG;
  },
  "a .git file": (root, other) => {
    fs.rmSync(join(root, ".git"), { recursive: true });
    write(root, ".git", `gitdir: ${join(other, ".git")}\n`);
    return LOG;
  },
  commondir: (root, other) => {
    write(root, ".git/commondir", `${join(other, ".git")}\n`);
    return LOG;
  },
  "commondir with a space": (root, other) => decoy(root, other, Buffer.from("x ")),
  "commondir with a byte that is not UTF-8": (root, other) =>
    decoy(root, other, Buffer.from([0x78, 0xff])),
  "commondir with a NUL": (root, other) => decoy(root, other, Buffer.from("x\0junk")),
  "commondir through a link and back": (root) => {
    fs.symlinkSync("..", join(root, "up"));
    write(root, ".git/commondir", "../up/../out/repo/.git\n");
    return LOG;
  },
  "commondir of a linked worktree": (root, other) => {
    worktree(root);
    write(root, ".git/worktrees/w/commondir", join(other, ".git"));
    write(root, ".git/worktrees/w/HEAD", "ref: refs/heads/main\n");
    return TREES;
  },
  "the path of a linked worktree": (root, other) => {
    worktree(root);
    link(root, "worktrees/w/gitdir", join(other, "secret.txt"));
    return TREES;
  },
  "a pack of another repository": (root, other) => {
    git(other, "repack", "--quiet", "-ad");
    const packs = join(other, ".git", "objects", "pack");
    fs.mkdirSync(join(root, ".git/objects/pack"), { recursive: true });
    for (const name of fs.readdirSync(packs)) link(root, `objects/pack/${name}`, join(packs, name));
    return secretOf(other);
  },
  refs: (root, other) => {
    link(root, "refs", join(other, ".git", "refs"));
    link(root, "objects", join(other, ".git", "objects"));
    return LOG;
  },
  alternates: (root, other) => alternates(root, other, `${join(other, ".git", "objects")}\n`),
  "alternates in quotes": (root, other) =>
    alternates(root, other, `"\\057${join(other, ".git", "objects").slice(1)}"\n`),
  "alternates after one in quotes": (root, other) =>
    alternates(root, other, `"${root}"x${join(other, ".git", "objects")}\n`),
  "alternates with a byte that is not UTF-8": (root, other) => {
    const name = Buffer.from(`${root}/x\xff`, "latin1");
    fs.symlinkSync(join(other, ".git", "objects"), name);
    fs.mkdirSync(name.toString("utf8"));
    return alternates(root, other, name);
  },
  "alternates of a hundred others": (root, other) => {
    const names = Array.from({ length: 110 }, (_, at) => join(root, `alternate-${at}`));
    for (const name of names) fs.mkdirSync(name);
    write(root, "alternate-0/info/alternates", join(other, ".git", "objects"));
    return alternates(root, other, names.join("\n"));
  },
  "an include through a link and back": (root, other) => {
    git(other, "remote", "add", "private", "https://secret.example.org/x.git");
    fs.symlinkSync("..", join(root, "up"));
    git(root, "config", "include.path", "../up/../out/repo/.git/config");
    return REMOTES;
  },
  "core.worktree": (root, other) => {
    git(root, "config", "core.worktree", other);
    return TOP;
  },
  "core.worktree through a link": (root, other) => {
    fs.symlinkSync(other, place.path("in", "link"));
    git(root, "config", "core.worktree", "../../link");
    return TOP;
  },
};

describe("a git directory", () => {
  it("leads no call to another repository or file, in any of the known ways", async () => {
    for (const [name, plant] of Object.entries(WAYS)) {
      fs.rmSync(place.folder, { recursive: true });
      ({ outside } = insideAndOutside());
      const root = repository();
      const [trap, tool, args = {}] = plant(root, outside);
      const head = git(outside, "rev-parse", "HEAD").trim();
      expect(git(root, ...trap), `no trap: ${name}`).toMatch(RegExp(`${SECRET.source}|${head}`));
      const before = git(outside, "for-each-ref") + git(outside, "config", "--list");
      for (const [called, given] of [
        [tool, args],
        ["git_create_branch", { branch_name: "fresh" }],
        ["git_create_tag", { tag_name: "fresh", revision: "HEAD" }],
        ["git_set_remote", { remote: "fresh", url: "https://example.org/x.git" }],
      ] as const)
        expect(await code(called, root, given), `${name}: ${called}`).toMatch(REFUSED);
      expect(git(outside, "for-each-ref") + git(outside, "config", "--list"), name).toBe(before);
    }
  });

  it("leads to no refs elsewhere (extensions.refStorage)", async (ctx) => {
    const root = repository();
    const store = `files://${join(outside, ".git")}`;
    set(root, ["core.repositoryFormatVersion", "1"], ["extensions.refStorage", store]);
    const [, minor] = /version \d+\.(\d+)/.exec(git(root, "--version")) ?? [];
    if (Number(minor) < 54) ctx.skip("git 2.54 is the first that has it");
    expect(await code("git_branch", root)).toBe("outside_roots");
  });

  it("may have links to hooks, locks of Emacs, and what is inside the allowed directories", async () => {
    const root = repository();
    link(root, "hooks", "../hooks");
    link(root, ".#COMMIT_EDITMSG", "user@host.1:2");
    git(place.path("in"), "clone", "--quiet", "--shared", root, "shared");
    git(root, "worktree", "add", "--quiet", place.path("in", "twin"), "-b", "twin");
    for (const where of [root, place.path("in", "shared"), place.path("in", "twin")])
      expect((await call("git_log", where)).data.commits).toHaveLength(1);
  });

  it("with a pipe or a device is refused and leaves the others working", async () => {
    const names = ["commondir", "index", "HEAD", "objects/info/alternates"];
    for (const name of names) {
      const root = repository();
      fs.rmSync(join(root, ".git", name), { force: true });
      fs.mkdirSync(join(root, ".git/objects/info"), { recursive: true });
      execFileSync("mkfifo", [join(root, ".git", name)]);
      expect(await code("git_status", root), name).toMatch(REFUSED);
    }
    const [linked, device] = [repository(), repository()];
    write(linked, "config", "[core]\n\tbare = false\n");
    link(linked, "config", "../config");
    link(device, "commondir", "/dev/zero");
    const endless = repository();
    write(endless, ".git/commondir", `${"/".repeat(2_000_000)}\n`);
    for (const root of [linked, device, endless])
      expect(await code("git_log", root)).toMatch(REFUSED);
    expect((await call("git_log", repository())).text).toContain("First");
  });

  it("with 100,000 tags on one commit doesn't stop git_log and git_show, which leave them out", async () => {
    const root = repository();
    const head = git(root, "rev-parse", "HEAD").trim();
    const tags = Array.from({ length: 100_000 }, (_, at) => `${head} refs/tags/t${100_000 + at}\n`);
    const packed = `# pack-refs with: peeled fully-peeled sorted \n${tags.join("")}`;
    write(root, ".git/packed-refs", packed);
    for (const tool of ["git_log", "git_show"]) {
      const { text } = await call(tool, root, { revision: "HEAD" });
      expect(text).toContain("Refs: HEAD -> main\n");
      expect(text).toContain("Tags are not shown, because there are too many");
    }
  });
});

describe("only what is allowed is opened:", () => {
  it("no repository outside, by any tool (CVE-2025-68143)", async () => {
    fs.symlinkSync(outside, place.path("in", "link"));
    const paths = ["../out/repo", `file://${outside}`, `${place.path("in")}/../out/repo`];
    for (const root of [...paths, place.path("in", "link")])
      expect(await code("git_status", root), root).toBe("outside");
    for (const { name } of tools) {
      if (name === "git_init" || name === "git_clone") continue;
      expect(await code(name, outside, callOf(name).args), name).toBe("outside");
    }
  });

  it("no linked worktree whose repository is outside, with an error about that repository", async () => {
    const twin = place.path("in", "twin");
    git(outside, "worktree", "add", "--quiet", "-b", "w", twin);
    for (const args of [{ repo_path: undefined }, {}]) {
      const error = await failureOf(at(twin, {}, twin).call("git_status", args));
      expect(error.message).toContain("git directory is outside the allowed directories");
    }
  });

  it("nothing above an allowed directory, and no bare repository by accident", async () => {
    const root = sampleRepository(path());
    const src = join(root, "src");
    const error = await failureOf(at(src, {}, src).call("git_log"));
    expect(error.code).toBe("not_a_repository");
    expect(error.hint).toContain("above an allowed directory");
    const bare = join(root, "vendor", "evil.git");
    git(place.folder, "clone", "--quiet", "--bare", root, bare);
    write(bare, "deep/er/x", "x");
    expect(await code("git_log", join(bare, "deep"))).toBe("not_a_repository");
    expect((await call("git_log", bare)).data.commits).toHaveLength(3);
  });

  it("no file outside that the configuration names (blame.ignoreRevsFile)", async () => {
    const root = sampleRepository(path());
    const first = git(root, "rev-parse", "--short=10", "HEAD~2").trim();
    const reformat = commitFiles(root, "Reformat", { "src/app.ts": "  one\ntwo\n" });
    const blame = ["git_blame", root, { path: "src/app.ts", end_line: 1 }] as const;
    write(place.path("out"), "ignored", `${reformat}\n`);
    fs.symlinkSync(place.path("out", "ignored"), join(root, "linked"));
    for (const file of [place.path("out", "ignored"), "linked"]) {
      git(root, "config", "blame.ignoreRevsFile", file);
      expect(await code(...blame)).toBe("outside_roots");
    }
    write(root, ".ignored", `${reformat}\n`);
    git(root, "config", "blame.ignoreRevsFile", ".ignored");
    expect((await call(...blame)).text).toContain(`\n${first} `);
  });

  it("no repository of another user, unless the user has marked it as safe (CVE-2022-24765)", async (ctx) => {
    if (process.getuid?.() !== 0) ctx.skip("needs root");
    const root = repository();
    for (const part of [root, join(root, ".git")]) fs.chownSync(part, 12_345, 12_345);
    for (const name of ["git_status", "git_log", "git_list_files"])
      expect(await code(name, root), name).toBe("dubious_ownership");
    write(place.home, ".gitconfig", `[safe]\n\tdirectory = ${root}\n`);
    expect((await call("git_log", root)).data.commits).toHaveLength(1);
  });

  it("no submodule outside, before a command looks into it", async () => {
    const root = repository();
    submodule(root);
    const add = ["git_add", root, { files: ["sub"] }] as const;
    await call(...add);
    const { notes } = (await call("git_status", root)).data;
    expect(notes).toContainEqual(expect.stringMatching(/not examined.*: sub\.$/));
    write(root, "sub/.git", `gitdir: ${join(outside, ".git")}\n`);
    expect(await code(...add)).toBe("outside_roots");
  });
});

describe("what leads out of the working tree", () => {
  it("leads git_grep to no file outside, and the pages go on", async () => {
    const root = repository({ "d/id_rsa": "nothing\n", "e/plain.txt": "the needle\n" });
    write(place.path("out"), "keys/id_rsa", "TOPSECRET needle\n");
    fs.rmSync(join(root, "d"), { recursive: true });
    fs.symlinkSync(place.path("out", "keys"), join(root, "d"));
    const args = { pattern: "needle", limit: 1 };
    const found = [];
    for (let cursor: unknown, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const { data } = await call("git_grep", root, { ...args, cursor });
      found.push(...matchesIn(data));
      cursor = data.next_cursor;
    }
    expect(found).toEqual([{ path: "e/plain.txt", line: 1, text: "the needle" }]);
  });

  it.each([
    ["git_worktree_add", { branch_name: "hooks" }],
    ["git_init", {}],
    ["git_clone", { url: "https://example.org/x.git" }],
  ] as const)("%s makes nothing inside a git directory", async (tool, args) => {
    const root = place.path("in", "repo");
    git(root, "branch", "hooks");
    git(place.path("in"), "clone", "--quiet", "--bare", "--template=", "repo", "bare.git");
    fs.symlinkSync("repo/.git", place.path("in", "link"));
    for (const name of ["repo/.git/x", "repo/.GIT/x", "bare.git/x", "link/x", "repo/sub/.git/x"]) {
      const where = { ...args, path: place.path("in", name) };
      expect(await code(tool, root, where), name).toBe("inside_git_directory");
    }
    for (const name of ["repo/.git/x", "bare.git/x", "repo/sub"])
      expect(fs.existsSync(place.path("in", name)), name).toBe(false);
  });
});
