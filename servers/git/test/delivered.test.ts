import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  commitFiles,
  git,
  insideAndOutside,
  matchesIn,
  write,
} from "./fixture.ts";
import { canary, set } from "./traps.ts";
import { cloned, LOOPBACK, over, place, useTestDirectory } from "./upstream.ts";

// A complete git directory from an archive or another program instead of a clone.
useTestDirectory();

describe("an include", () => {
  const filter = (program: string) =>
    `[filter "evil"]\n\tsmudge = ${program}\n\tclean = ${program}\n`;

  it.each([
    ["include.path", "evil.inc"],
    ["include.path", "../src/app.ts"],
    ["include.path", "missing.inc"],
    ["include.path", "~/own.inc"],
    ["includeIf.onbranch:feature.path", "evil.inc"],
    ["includeIf.gitdir:**/worktrees/**.path", "evil.inc"],
    ["includeIf.hasconfig:remote.*.url:**.path", "evil.inc"],
  ])("of the repository is refused, and its file is not read: %s %s", async (key, value) => {
    const { root, over: server } = insideAndOutside(place);
    const { program, log } = canary(place.path("in", "evil"));
    writeFileSync(join(root, ".git", "evil.inc"), filter(program));
    set(root, [key, value]);
    git(root, "worktree", "add", "--quiet", "../plain", "feature");
    rmSync(log, { force: true });
    for (const [tool, args] of [
      ["git_status", {}],
      ["git_log", {}],
      ["git_checkout", { branch_name: "feature" }],
      ["git_stash_apply", {}],
      ["git_worktree_add", { path: place.path("in", "twin"), branch_name: "conflicting" }],
    ] as const)
      expect(await codeOf(callTool(server, tool, { repo_path: root, ...args })), tool).toBe(
        "unsafe_config",
      );
    expect(existsSync(log)).toBe(false);
  });

  it("of a file outside does not show its content", async () => {
    const { root, outside, over: server } = insideAndOutside(place);
    git(outside, "remote", "add", "secret", "https://token@git.example.org/x.git");
    for (const key of ["include.path", "includeIf.gitdir:**.path"]) {
      set(root, [key, join(outside, ".git", "config")]);
      const refs = callTool(server, "git_list_refs", { repo_path: root, kind: "remotes" });
      expect(await codeOf(refs), key).toBe("unsafe_config");
      git(root, "config", "--unset", key);
    }
  });

  it("that refers to another file in the new worktree executes nothing there", async () => {
    const { root, over: server } = insideAndOutside(place);
    const { program, log } = canary(place.path("in", "evil"));
    set(root, ["extensions.worktreeConfig", "true"]);
    write(root, ".git/worktrees/evil.inc", filter(program));
    // git copies it: relative to .git/worktrees/twin it is the other file.
    write(root, ".git/config.worktree", "[include]\n\tpath = ../evil.inc\n");
    git(root, "worktree", "add", "--quiet", "../plain", "feature");
    expect(existsSync(log), "no trap").toBe(true);
    rmSync(log);
    const args = { repo_path: root, path: place.path("in", "twin"), branch_name: "conflicting" };
    expect(await codeOf(callTool(server, "git_worktree_add", args))).toBe("unsafe_config");
    expect(existsSync(log)).toBe(false);
  });

  it("in a comment or a value is not one, and the user's own may be of any file", async () => {
    const { root, over: server } = insideAndOutside(place);
    appendFileSync(join(root, ".git", "config"), '# [include]\n[x "[include]"]\n\ty = [include]\n');
    write(place.home, "own.inc", "[remote]\n\tpushDefault = origin\n");
    appendFileSync(join(place.home, ".gitconfig"), "[include]\n\tpath = ~/own.inc\n");
    expect((await callTool(server, "git_status", { repo_path: root })).data).toMatchObject({
      clean: true,
    });
  });
});

describe("a link in the working tree or the git directory", () => {
  it("leads git_grep to no file outside", async () => {
    const { root, over: server } = insideAndOutside(place);
    write(root, "d/id_rsa", "nothing\n");
    write(root, "e/plain.txt", "the needle\n");
    git(root, "add", "d", "e");
    write(place.path("out"), "keys/id_rsa", "TOPSECRET needle\n");
    rmSync(join(root, "d"), { recursive: true });
    symlinkSync(place.path("out", "keys"), join(root, "d"));
    const { data } = await callTool(server, "git_grep", { repo_path: root, pattern: "needle" });
    expect(matchesIn(data)).toEqual([{ path: "e/plain.txt", line: 1, text: "the needle" }]);
    // A page with only such files still continues with the next one.
    const found = [];
    let cursor: unknown;
    do {
      const page = await callTool(server, "git_grep", {
        repo_path: root,
        pattern: "needle",
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...matchesIn(page.data));
      cursor = page.data.next_cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(matchesIn(data));
  });

  it.each([
    ["COMMIT_EDITMSG", "git_commit", { message: "x", files: ["README.md"] }],
    ["logs/HEAD", "git_commit", { message: "x", files: ["README.md"] }],
    ["logs/HEAD", "git_reflog", {}],
    ["refs/heads/topic", "git_log", { revision: "topic" }],
    ["objects/pack", "git_log", {}],
    ["MERGE_MSG", "git_merge", { revision: "conflicting", on_conflict: "keep" }],
    ["info/attributes", "git_status", {}],
  ] as const)("%s writes and reads nothing outside with %s", async (part, tool, args) => {
    const { root, outside, over: server } = insideAndOutside(place);
    const victim =
      part === "objects/pack" ? join(outside, ".git", "objects") : place.path("out", "victim");
    if (part !== "objects/pack") writeFileSync(victim, "untouched\n");
    rmSync(join(root, ".git", part), { force: true, recursive: true });
    mkdirSync(join(root, ".git", part, ".."), { recursive: true });
    symlinkSync(victim, join(root, ".git", part));
    write(root, "README.md", "changed\n");
    expect(await codeOf(callTool(server, tool, { repo_path: root, ...args }))).toBe(
      "unsafe_git_directory",
    );
    if (part !== "objects/pack") expect(readFileSync(victim, "utf8")).toBe("untouched\n");
  });

  it("of the git directory is refused even if it stays inside", async () => {
    const { root, over: server } = insideAndOutside(place);
    renameSync(join(root, ".git", "logs"), join(root, "kept-logs"));
    symlinkSync("../kept-logs", join(root, ".git", "logs"));
    expect(await codeOf(callTool(server, "git_reflog", { repo_path: root }))).toBe(
      "unsafe_git_directory",
    );
  });
});

describe("a file outside that the configuration refers to", () => {
  it("does not affect identities (mailmap.file) or ignored files", async () => {
    const { root, over: server } = insideAndOutside(place);
    write(place.path("out"), "people", "Secret Name <secret@example.org> <test@example.org>\n");
    write(place.path("out"), "ignored", "fresh.txt\n");
    set(
      root,
      ["mailmap.file", place.path("out", "people")],
      ["core.excludesFile", place.path("out", "ignored")],
    );
    const { text } = await callTool(server, "git_blame", { repo_path: root, path: "README.md" });
    expect(text).not.toContain("Secret");
    write(root, "fresh.txt", "x\n");
    const { data } = await callTool(server, "git_list_files", {
      repo_path: root,
      kind: "untracked",
    });
    expect(data.files).toEqual(["fresh.txt"]);
  });
});

describe("a new directory", () => {
  it.each([
    ["git_worktree_add", { branch_name: "hooks" }],
    ["git_init", {}],
    ["git_clone", { url: "https://example.org/x.git" }],
  ] as const)("of %s is never created inside a git directory", async (tool, args) => {
    const { root, over: server } = insideAndOutside(place);
    git(root, "branch", "hooks");
    git(place.path("in"), "clone", "--quiet", "--bare", "--template=", "repo", "bare.git");
    git(place.path("in"), "init", "--quiet", "--template=", "--separate-git-dir", "meta", "apart");
    symlinkSync("repo/.git", place.path("in", "link"));
    for (const path of [
      "repo/.git/hooks",
      "repo/.git/modules/x/hooks",
      "repo/.GIT/hooks",
      "repo/.git",
      "bare.git/hooks",
      "bare.git/refs/heads/x",
      "meta/hooks",
      "link/hooks",
      "repo/sub/.git/hooks",
    ]) {
      const where = { ...args, path: place.path("in", path) };
      const given = tool === "git_worktree_add" ? { ...where, repo_path: root } : where;
      expect(await codeOf(callTool(server, tool, given)), path).toBe("inside_git_directory");
    }
    for (const path of ["repo/.git/hooks", "bare.git/hooks", "meta/hooks", "repo/sub"])
      expect(existsSync(place.path("in", path)), path).toBe(false);
  });
});

describe("a remote that is allowed", () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** A server that is not allowed, and the requests that it received. */
  async function elsewhere(): Promise<{ url: string; requests: string[] }> {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
    closing.push(() => server.close());
    return { url: `http://127.0.0.2:${(server.address() as AddressInfo).port}`, requests };
  }

  it("sends git to no other address by packfile URIs", async () => {
    const { url, requests } = await elsewhere();
    const { root, bare } = await cloned();
    const oid = commitFiles(place.path("source"), "Big", { "big.bin": "x".repeat(5_000) });
    git(place.path("source"), "push", "--quiet", bare, `${oid}:refs/heads/news`);
    const blob = git(bare, "rev-parse", `${oid}:big.bin`).trim();
    const pack = "0123456789012345678901234567890123456789";
    git(bare, "config", "uploadpack.blobPackfileUri", `${blob} ${pack} ${url}/steal.pack`);
    git(bare, "config", "uploadpack.allowSidebandAll", "true");
    set(root, ["fetch.uriProtocols", "http,https"], ["protocol.version", "2"]);
    await callTool(over(LOOPBACK), "git_fetch", { repo_path: root }).catch(() => undefined);
    expect(requests).toEqual([]);
    expect(git(root, "rev-parse", "refs/remotes/origin/news").trim()).toBe(oid);
  });

  it("sends git to no other address for the objects of another remote (partial clone)", async () => {
    const { url, requests } = await elsewhere();
    const { root } = await cloned();
    set(
      root,
      ["core.repositoryFormatVersion", "1"],
      ["extensions.partialClone", "evil"],
      ["remote.evil.url", `${url}/x.git`],
      ["remote.evil.promisor", "true"],
    );
    expect(await codeOf(callTool(over(LOOPBACK), "git_fetch", { repo_path: root }))).toBe(
      "host_not_allowed",
    );
    expect(requests).toEqual([]);
  });
});
