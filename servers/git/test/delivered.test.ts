import { existsSync, rmSync, symlinkSync } from "node:fs";
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
