import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import {
  callTool,
  codeOf,
  commitFiles,
  failureOf,
  git,
  gitOver,
  insideAndOutside,
  type Scratch,
  scratch,
  write,
} from "./fixture.ts";
import { submodule } from "./traps.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

describe("a repository accesses nothing outside the allowed directories", () => {
  it("by its own path (CVE-2025-68143), whatever tool is called", async () => {
    const { outside, over } = insideAndOutside(place);
    const out = ["../out/repo", outside, `file://${outside}`, `${place.path("in")}/../out/repo`];
    for (const repo_path of out)
      expect(await codeOf(callTool(over, "git_status", { repo_path })), repo_path).toBe("outside");
    const given: Readonly<Record<string, object>> = {
      git_diff: { target: "HEAD" },
      git_show: { revision: "HEAD" },
      git_blame: { path: "secret.txt" },
      git_grep: { pattern: "secret" },
      git_list_refs: { kind: "tags" },
      git_add: { files: ["."] },
      git_commit: { message: "x" },
      git_create_branch: { branch_name: "x" },
      git_checkout: { branch_name: "main" },
      git_restore: { files: ["."] },
      git_merge: { revision: "main" },
      git_cherry_pick: { commits: ["HEAD"] },
      git_revert: { commit: "HEAD" },
      git_create_tag: { tag_name: "x" },
      git_worktree_add: { path: place.path("in", "x"), branch_name: "x" },
      git_set_remote: { remote: "x", url: "https://example.org/x.git" },
      git_rebase: { onto: "main" },
      git_delete: { kind: "branch", name: "main" },
    };
    for (const { name } of tools) {
      if (name === "git_init" || name === "git_clone") continue;
      expect(await codeOf(callTool(over, name, { ...given[name], repo_path: outside })), name).toBe(
        "outside",
      );
    }
  });

  it("by a linked worktree, whose error is about its repository also without repo_path", async () => {
    const { outside, over } = insideAndOutside(place);
    rmSync(place.path("in", "repo"), { recursive: true });
    git(outside, "worktree", "add", "--quiet", "-b", "w", place.path("in", "w"));
    expect(await codeOf(callTool(gitOver([place.path("in", "w")]), "git_status", {}))).toBe(
      "outside_roots",
    );
    expect(await codeOf(callTool(over, "git_status", {}))).toBe("not_a_repository");
  });

  it("by a symlink to it, or by a .git that is a symlink or a file", async () => {
    const { outside, over } = insideAndOutside(place);
    symlinkSync(outside, place.path("in", "link"));
    expect(await codeOf(callTool(over, "git_log", { repo_path: place.path("in", "link") }))).toBe(
      "outside",
    );
    for (const kind of ["link", "file"]) {
      const trap = place.path("in", `trap-${kind}`);
      mkdirSync(trap);
      if (kind === "link") symlinkSync(join(outside, ".git"), join(trap, ".git"));
      else writeFileSync(join(trap, ".git"), `gitdir: ${join(outside, ".git")}\n`);
      expect(await codeOf(callTool(over, "git_log", { repo_path: trap })), kind).toBe(
        "outside_roots",
      );
    }
  });

  it("by core.worktree, commondir, objects, alternates or links in the git directory", async () => {
    const { root, outside, over } = insideAndOutside(place);
    const log = () => codeOf(callTool(over, "git_log", { repo_path: root }));
    const dir = join(root, ".git");

    git(root, "config", "core.worktree", outside);
    expect(await codeOf(callTool(over, "git_status", { repo_path: root }))).toBe("outside_roots");
    symlinkSync(outside, place.path("in", "link"));
    git(root, "config", "core.worktree", "../../link");
    expect(await codeOf(callTool(over, "git_status", { repo_path: root }))).toBe("outside_roots");
    git(place.folder, "config", "-f", join(dir, "config"), "core.worktree", "../src");
    rmSync(place.path("in", "link"));
    expect((await callTool(over, "git_status", { repo_path: root })).data.unstaged).not.toEqual([]);
    git(root, "config", "--unset", "core.worktree");

    writeFileSync(join(dir, "commondir"), `${join(outside, ".git")}\n`);
    expect(await log()).toBe("outside_roots");
    rmSync(join(dir, "commondir"));

    mkdirSync(join(dir, "objects", "info"), { recursive: true });
    writeFileSync(
      join(dir, "objects", "info", "alternates"),
      `${join(outside, ".git", "objects")}\n`,
    );
    expect(await log()).toBe("outside_roots");
    writeFileSync(
      join(dir, "objects", "info", "alternates"),
      `"${join(outside, ".git", "objects")}"\n`,
    );
    expect(await log()).toBe("unsafe_git_directory");
    rmSync(join(dir, "objects", "info", "alternates"));

    for (const part of ["objects", "refs", "logs"]) {
      renameSync(join(dir, part), join(dir, `${part}-own`));
      symlinkSync(join(outside, ".git", part), join(dir, part));
      expect(await log(), part).toBe("unsafe_git_directory");
      rmSync(join(dir, part));
      renameSync(join(dir, `${part}-own`), join(dir, part));
    }
    expect((await callTool(over, "git_log", { repo_path: root })).data.commits).toHaveLength(3);
  });

  it("by extensions.refStorage", async (ctx) => {
    const { root, outside, over } = insideAndOutside(place);
    for (const store of [join(outside, ".git"), "../../../out/repo/.git"]) {
      git(
        place.folder,
        "config",
        "-f",
        join(root, ".git", "config"),
        "core.repositoryFormatVersion",
        "1",
      );
      git(
        place.folder,
        "config",
        "-f",
        join(root, ".git", "config"),
        "extensions.refStorage",
        `files://${store}`,
      );
      const branches = spawnSync("git", ["branch", "--list"], { cwd: root });
      if (branches.status !== 0)
        ctx.skip("this git keeps refs in the git directory only (2.54 is the first)");
      expect(await codeOf(callTool(over, "git_branch", { repo_path: root })), store).toBe(
        "outside_roots",
      );
    }
  });

  it("and the reason is reported where the only allowed directory is that repository", async () => {
    const { root } = insideAndOutside(place);
    const twin = place.path("twin");
    git(root, "worktree", "add", "--quiet", twin, "-b", "twin");
    const failure = await failureOf(callTool(gitOver([twin]), "git_status", { repo_path: twin }));
    expect(failure.message).toContain("git directory is outside the allowed directories");
  });

  it("but alternates and worktrees inside are fine", async () => {
    const { root, over } = insideAndOutside(place);
    git(place.path("in"), "clone", "--quiet", "--shared", "repo", "shared");
    expect(
      (await callTool(over, "git_log", { repo_path: place.path("in", "shared") })).data.commits,
    ).toHaveLength(3);
    git(root, "worktree", "add", "--quiet", place.path("in", "twin"), "feature");
    const { data } = await callTool(over, "git_status", { repo_path: place.path("in", "twin") });
    expect(data.branch).toBe("feature");
  });

  it("by walking up above an allowed directory", async () => {
    const { root } = insideAndOutside(place);
    const narrow = gitOver([join(root, "src")]);
    const error = await failureOf(callTool(narrow, "git_log", { repo_path: join(root, "src") }));
    expect(error.code).toBe("not_a_repository");
    expect(error.hint).toContain("above an allowed directory");
  });

  it("by a file that the configuration names (blame.ignoreRevsFile)", async () => {
    const { root, over } = insideAndOutside(place);
    const first = git(root, "rev-parse", "--short=10", "HEAD~2").trim();
    const reformat = commitFiles(root, "Reformat", { "src/app.ts": "  one\ntwo\n" });
    const blame = () =>
      callTool(over, "git_blame", { repo_path: root, path: "src/app.ts", end_line: 1 });
    expect((await blame()).text).toContain(`\n${reformat.slice(0, 10)} `);
    write(place.path("out"), "ignored", `${reformat}\n`);
    git(root, "config", "blame.ignoreRevsFile", place.path("out", "ignored"));
    expect(await codeOf(blame())).toBe("outside_roots");
    write(root, ".ignored", `${reformat}\n`);
    symlinkSync(place.path("out", "ignored"), join(root, "linked"));
    git(root, "config", "blame.ignoreRevsFile", "linked");
    expect(await codeOf(blame())).toBe("outside_roots");
    git(root, "config", "blame.ignoreRevsFile", ".ignored");
    expect((await blame()).text).toContain(`\n${first} `);
  });

  it("by a bare repository on the path, which its own path may open", async () => {
    const { root, over } = insideAndOutside(place);
    const bare = join(root, "vendor", "evil.git");
    git(place.folder, "clone", "--quiet", "--bare", root, bare);
    write(bare, "deep/er/x", "x");
    expect(await codeOf(callTool(over, "git_log", { repo_path: join(bare, "deep") }))).toBe(
      "not_a_repository",
    );
    expect((await callTool(over, "git_log", { repo_path: bare })).data.commits).toHaveLength(3);
  });
});

describe("a repository of another user", () => {
  beforeEach((context) => {
    if (process.getuid?.() !== 0) context.skip("needs root");
  });

  it("is not opened, unless the user has marked it as safe (CVE-2022-24765)", async () => {
    const { root, over } = insideAndOutside(place);
    chownSync(root, 12_345, 12_345);
    chownSync(join(root, ".git"), 12_345, 12_345);
    for (const name of ["git_status", "git_log", "git_list_files"])
      expect(await codeOf(callTool(over, name, { repo_path: root })), name).toBe(
        "dubious_ownership",
      );
    write(place.home, ".gitconfig", `[safe]\n\tdirectory = ${root}\n`);
    expect((await callTool(over, "git_log", { repo_path: root })).data.commits).toHaveLength(3);
  });

  it("is not opened as a submodule either, before a command looks into it", async () => {
    const { root, over } = insideAndOutside(place);
    submodule(root);
    const add = () => callTool(over, "git_add", { repo_path: root, files: ["sub"] });
    await add();
    const status = (await callTool(over, "git_status", { repo_path: root })).data;
    expect(status.notes).toContainEqual(expect.stringMatching(/not examined.*: sub\.$/));
    write(root, "sub/.git", `gitdir: ${place.path("out", ".git")}\n`);
    expect(await codeOf(add())).toBe("outside_roots");
  });
});
