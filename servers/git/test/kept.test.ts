import {
  appendFileSync,
  existsSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lookUp } from "../src/git/open/revisions.ts";
import {
  callTool,
  codeOf,
  commitFiles,
  emptyRepository,
  git,
  gitOver,
  insideAndOutside,
  makeDirty,
  sampleRepository,
  write,
} from "./fixture.ts";
import { logged, messages, settle } from "./processes.ts";
import { canary, promisor } from "./traps.ts";
import { place, useTestDirectory } from "./upstream.ts";

// What outlives a call is the configuration; a later call sees every change.
useTestDirectory();

describe("a change between two calls is seen", () => {
  it("of commits, branches and tags, also by gc", async () => {
    const root = sampleRepository(place.path("repo"));
    const { over } = logged(root);
    await settle();
    await callTool(over, "git_branch", {});
    expect(await messages(over)).toHaveLength(3);
    commitFiles(root, "Fourth", { "new.txt": "new\n" });
    git(root, "tag", "fresh");
    expect((await messages(over))[0]).toBe("Fourth");
    git(root, "gc", "--quiet", "--prune=now");
    expect((await messages(over))[0]).toBe("Fourth");
    expect((await callTool(over, "git_show", { revision: "HEAD:new.txt" })).text).toContain(
      "new\n",
    );
    const { data } = await callTool(over, "git_log", { max_count: 1 });
    expect(data.commits).toMatchObject([{ refs: ["HEAD -> main", "tag: fresh"] }]);
    git(root, "branch", "-m", "feature", "renamed");
    const branches = JSON.stringify((await callTool(over, "git_branch", {})).data);
    expect(branches).toContain('"renamed"');
    expect(branches).not.toContain('"feature"');
    git(root, "checkout", "--quiet", "--detach");
    const detached = await callTool(over, "git_log", { max_count: 1 });
    expect(detached.data.commits).toMatchObject([{ refs: ["HEAD", "tag: fresh", "main"] }]);
  });
});

describe("a configuration that changes between two calls", () => {
  const filter = (program: string) =>
    `[filter "evil"]\n\tclean = ${program}\n\tsmudge = ${program}\n`;
  const ways: Readonly<Record<string, (root: string, text: string) => void>> = {
    "the repository's own": (root, text) => appendFileSync(join(root, ".git", "config"), text),
    "the worktree's": (root, text) => writeFileSync(join(root, ".git", "config.worktree"), text),
    "the user's": (_, text) => appendFileSync(join(place.home, ".gitconfig"), text),
    "the user's in .config, which is new": (_, text) =>
      write(place.home, ".config/git/config", text),
    "a file that the user's includes, which is new": (_, text) =>
      write(place.home, "included", text),
    "a condition of the user's that becomes true": (root) =>
      git(root, "symbolic-ref", "HEAD", "refs/heads/other"),
  };

  it.each(Object.entries(ways))("is seen: %s", async (name, plant) => {
    const root = makeDirty(sampleRepository(place.path("repo")));
    git(root, "branch", "other");
    git(root, "config", "extensions.worktreeConfig", "true");
    git(root, "config", "--global", "include.path", "included");
    git(root, "config", "--global", "includeIf.onbranch:other.path", "~/elsewhere");
    const { over, processes } = logged(root);
    const { program, log } = canary(place.path("evil"));
    if (name.startsWith("a condition")) write(place.home, "elsewhere", filter(program));
    await settle();
    await callTool(over, "git_status", {});
    await callTool(over, "git_show", { revision: "HEAD:src/app.ts" });
    const before = processes().length;
    await callTool(over, "git_status", {});
    expect(processes().slice(before).join("\n")).not.toContain("config");
    plant(root, filter(program));
    write(root, "src/app.ts", "changed\n");
    await callTool(over, "git_status", {});
    await callTool(over, "git_diff_unstaged", {});
    await callTool(over, "git_show", { revision: "HEAD:src/app.ts" });
    expect(await codeOf(callTool(over, "git_add", { files: ["src/app.ts"] }))).toBe(
      "filter_needed",
    );
    expect(existsSync(log)).toBe(false);
    git(root, "add", "src/app.ts");
    expect(existsSync(log)).toBe(true);
  });

  it("is refused if it now leads outside", async () => {
    const { root, over } = insideAndOutside(place);
    const shown = () => callTool(over, "git_show", { repo_path: root, revision: "HEAD:README.md" });
    await settle();
    await shown();
    git(root, "config", "core.worktree", place.path("out"));
    expect(await codeOf(shown())).toBe("outside_roots");
  });
});

describe("what is read between calls", () => {
  it("through alternates that are added later, and forgets those that are removed", async () => {
    const { root, outside, over } = insideAndOutside(place);
    const secret = git(outside, "rev-parse", "HEAD:secret.txt").trim();
    const shown = () => callTool(over, "git_show", { repo_path: root, revision: secret });
    expect(await codeOf(shown())).toBe("bad_revision");
    const file = ".git/objects/info/alternates";
    write(root, file, `${join(outside, ".git", "objects")}\n`);
    expect(await codeOf(shown())).toBe("outside_roots");
    const inner = emptyRepository(place.path("in", "inner"));
    commitFiles(inner, "Inner", { "secret.txt": "the secret\n" });
    write(root, file, `${join(inner, ".git", "objects")}\n`);
    expect((await shown()).text).toContain("the secret");
    // The alternate's own alternates.
    write(inner, file, `${join(outside, ".git", "objects")}\n`);
    expect(await codeOf(shown())).toBe("outside_roots");
    rmSync(join(root, file));
    expect(await codeOf(shown())).toBe("bad_revision");
  });

  it("through a link that replaces the git directory", async () => {
    const { root, outside, over } = insideAndOutside(place);
    const shown = () =>
      callTool(over, "git_show", { repo_path: root, revision: "HEAD:secret.txt" });
    expect(await codeOf(shown())).toBe("bad_revision");
    renameSync(join(root, ".git"), place.path("in", "moved"));
    symlinkSync(join(outside, ".git"), join(root, ".git"));
    expect(await codeOf(shown())).toBe("outside_roots");
    rmSync(join(root, ".git"));
    symlinkSync(place.path("in", "moved"), join(root, ".git"));
    const { text } = await callTool(over, "git_show", {
      repo_path: root,
      revision: "HEAD:README.md",
    });
    expect(text).toContain("# Sample");
  });

  it("and fetches no missing object from a promisor", async () => {
    const { root, over } = insideAndOutside(place);
    const { program, log } = canary(place.path("evil"));
    const repo = { repo_path: root };
    await callTool(over, "git_show", { ...repo, revision: "HEAD:README.md" });
    const blob = git(root, "rev-parse", "v0.9:docs/café.md").trim();
    rmSync(join(root, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
    for (const [key, value] of promisor("evil", root)) git(root, "config", key, value);
    git(root, "config", "extensions.partialClone", "evil");
    git(root, "config", "remote.evil.uploadpack", program);
    for (const revision of [blob, "v0.9:docs/café.md"])
      expect(["bad_revision", "missing_object"]).toContain(
        await codeOf(callTool(over, "git_show", { ...repo, revision })),
      );
    expect(existsSync(log)).toBe(false);
  });

  it("and no name adds a request", async () => {
    const root = sampleRepository(place.path("repo"));
    const over = gitOver([root]);
    const repository = await over.open(root, new AbortController().signal);
    for (const name of ["x\ncontents HEAD", "HEAD\n", "HEAD\r", "HEAD\0"])
      expect(await lookUp(repository, [name, "v0.9:README.md"]), name).toMatchObject([
        undefined,
        { type: "blob" },
      ]);
    expect(await lookUp(repository, [])).toEqual([]);
    for (const revision of ["HEAD\ninfo HEAD", "HEAD\r"])
      expect(await codeOf(callTool(over, "git_show", { revision }))).toBe("bad_revision");
    for (const revision of [" HEAD", "HEAD missing", `${"0".repeat(40)} blob 3`, "a b c ambiguous"])
      expect(await codeOf(callTool(over, "git_show", { revision })), revision).toBe("bad_revision");
  });
});
