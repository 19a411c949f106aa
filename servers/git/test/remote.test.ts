import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { checkAddress, parseRemote } from "../src/git/remote/address.ts";
import { callTool, codeOf, commitFiles, failureOf, git, write } from "./fixture.ts";
import { serveGit } from "./http-server.ts";
import { canary, executable, hooksInto, set } from "./traps.ts";
import { cloned, over, place, servers, upstream, useTestDirectory } from "./upstream.ts";

useTestDirectory();

/** Calls a tool in the clone. */
const call = (tool: string, args: object = {}, asked = fakeCall({ agrees: true })) =>
  callTool(over(), tool, { repo_path: place.path("clone"), ...args }, asked);
const isIncreasing = ({ reported }: ReturnType<typeof fakeCall>) => {
  const steps = reported.map(({ done }) => done);
  expect(steps.length).toBeGreaterThan(0);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
};

describe("a clone", () => {
  it("reports progress, takes a branch and a depth, and leaves nothing behind on failure", async () => {
    const { url } = await upstream();
    const asked = fakeCall();
    const clone = (args: object) => callTool(over(), "git_clone", { url, ...args }, asked);
    const { data } = await clone({ path: place.path("new") });
    expect(data).toMatchObject({ repository: place.path("new"), url, branch: "main" });
    isIncreasing(asked);
    expect(asked.reported[0]?.note).toMatch(/\d+%/);
    await clone({ path: place.path("shallow"), branch: "feature", depth: 1 });
    expect(git(place.path("shallow"), "rev-list", "--count", "HEAD").trim()).toBe("1");
    for (const [args, code] of [
      [{ path: place.path("deep", "er"), branch: "nothing" }, "remote_not_found"],
      [{ path: place.path("source") }, "path_exists"],
      [{ path: join(place.home, "x") }, "outside"],
    ] as const)
      expect(await codeOf(clone(args))).toBe(code);
    expect(existsSync(place.path("deep"))).toBe(false);
    expect(existsSync(place.path("source", ".git"))).toBe(true);
  });

  it("executes nothing it brings along: no hooks, filters, submodules or templates", async () => {
    const { url, bare } = await upstream();
    const mark = place.path("ran");
    const trap = executable(place.path("trap.sh"), `echo ran >> "${mark}"\ncat`);
    write(place.path("template", "hooks"), "post-checkout", "");
    executable(place.path("template", "hooks", "post-checkout"), `touch "${mark}"`);
    const source = place.path("source");
    write(source, ".gitmodules", `[submodule "s"]\n\tpath = s\n\turl = ${url}\n`);
    const link = `160000,${git(source, "rev-parse", "HEAD").trim()},s`;
    git(source, "update-index", "--add", "--cacheinfo", link);
    git(source, "add", ".gitmodules");
    git(source, "commit", "--quiet", "-m", "Submodule");
    git(source, "push", "--quiet", bare, "main");
    appendFileSync(
      join(place.home, ".gitconfig"),
      `[init]\n\ttemplateDir = ${place.path("template")}\n[filter "evil"]\n\tsmudge = ${trap}\n\tclean = ${trap}\n[submodule]\n\trecurse = true\n`,
    );
    await callTool(over(), "git_clone", { url, path: place.path("safe") });
    expect(existsSync(mark)).toBe(false);
    expect(readdirSync(place.path("safe", "s"))).toEqual([]);
    expect(existsSync(place.path("safe", ".git", "hooks"))).toBe(false);
    expect(git(place.path("safe"), "show", "HEAD:src/app.ts")).toContain("OURS");
  });

  it("fetch and push stop when the call ends, and leave nothing half done", async () => {
    const { url, server } = await upstream({ stallAfter: 10 });
    const asked = fakeCall();
    const args = { url, path: place.path("stalled") };
    const failed = failureOf(callTool(over(), "git_clone", args, asked));
    await server.stalled;
    asked.cancel();
    expect((await failed).kind).toBe("cancelled");
    // The directory is removed after git has exited.
    expect(readdirSync(place.folder)).not.toContain("stalled");
    const root = place.path("source");
    git(root, "config", "remote.origin.url", url);
    const bare = place.path("served", "upstream.git");
    const large = { "large.bin": Buffer.alloc(3_000_000, "abcdefgh") };
    for (const [tool, options] of [
      ["git_fetch", { stallAfter: 2_000 }],
      ["git_push", { stallOn: "/git-receive-pack" }],
    ] as const) {
      const slow = await serveGit(place.path("served"), options);
      servers.push(slow);
      git(root, "config", "remote.origin.url", `${slow.url}/upstream.git`);
      if (tool === "git_push") commitFiles(root, "Mine", { "mine.txt": "x\n" });
      else {
        git(bare, "worktree", "add", "--quiet", "-b", "large", place.path("large"));
        commitFiles(place.path("large"), "Large", large);
      }
      const before = git(root, "for-each-ref") + git(bare, "for-each-ref");
      const stopped = fakeCall();
      const work = failureOf(callTool(over(), tool, { repo_path: root }, stopped));
      await slow.stalled;
      stopped.cancel();
      expect((await work).kind, tool).toBe("cancelled");
      expect(git(root, "for-each-ref") + git(bare, "for-each-ref")).toBe(before);
      const { data } = await callTool(over(), "git_status", { repo_path: root });
      expect(data.staged).toEqual([]);
    }
  });
});

describe("git_fetch and git_pull", () => {
  it("move remote branches only, whatever the refspec says, and pull never merges", async () => {
    const { root, bare } = await cloned();
    git(root, "config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*");
    git(bare, "branch", "fresh", "feature");
    const source = place.path("source");
    commitFiles(source, "News", { "news.txt": "x\n" });
    git(source, "push", "--quiet", bare, "main");
    const local = git(root, "for-each-ref", "refs/heads");
    const asked = fakeCall();
    const { data } = await call("git_fetch", {}, asked);
    isIncreasing(asked);
    const [fresh, before, after] = [
      ...[git(bare, "rev-parse", "feature"), git(root, "rev-parse", "main")],
      git(bare, "rev-parse", "main"),
    ].map((oid) => oid.trim());
    expect(data.updated).toEqual([
      { ref: "refs/remotes/origin/fresh", after: fresh },
      { ref: "refs/remotes/origin/main", before, after },
    ]);
    expect(git(root, "for-each-ref", "refs/heads")).toBe(local);
    git(bare, "branch", "-D", "fresh");
    const pruned = await call("git_fetch", { prune: true });
    expect(JSON.stringify(pruned.data.updated)).toContain("origin/fresh");
    const pulled = await call("git_pull");
    const files = [{ path: "news.txt", status: "added" }];
    expect(pulled.data).toMatchObject({ fast_forward: true, files });
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Mine");
    commitFiles(source, "More", { "more.txt": "x\n" });
    git(source, "push", "--quiet", bare, "main");
    const head = git(root, "rev-parse", "HEAD");
    expect(await codeOf(call("git_pull"))).toBe("not_fast_forward");
    expect(git(root, "rev-parse", "HEAD")).toBe(head);
    for (const args of [{ remote: "orign" }, { branch_name: "none" }])
      expect(await codeOf(call("git_fetch", args))).toBe("remote_not_found");
    git(root, "config", "remote.origin.url", "http://127.0.0.1:1/x.git");
    expect(await codeOf(call("git_fetch"))).toBe("remote_unreachable");
  });
});

describe("git_push, with and without force, and git_delete on a remote", () => {
  it("sends one branch and a tag, never the recovery ref, and refuses to lose remote commits", async () => {
    const { root, bare } = await cloned();
    commitFiles(root, "Mine", { "mine.txt": "x\n" });
    git(root, "tag", "v3");
    write(root, "mine.txt", "changed\n");
    await call("git_restore", { files: ["mine.txt"] });
    git(root, "config", "remote.origin.push", "+refs/*:refs/*");
    git(root, "config", "remote.origin.mirror", "true");
    const asked = fakeCall();
    expect((await call("git_push", { tag: "v3" }, asked)).data.pushed).toHaveLength(2);
    isIncreasing(asked);
    expect(git(bare, "rev-parse", "main", "v3")).toBe(git(root, "rev-parse", "main", "v3"));
    expect(git(bare, "for-each-ref", "refs/refmcp")).toBe("");
    git(root, "reset", "--quiet", "--hard", "HEAD~2");
    commitFiles(root, "Other", { "other.txt": "x\n" });
    expect(await codeOf(call("git_push"))).toBe("not_fast_forward");
    expect(git(bare, "log", "-1", "--format=%s", "main").trim()).toBe("Mine");
    expect(git(bare, "for-each-ref", "--format=%(refname)")).toContain("refs/heads/conflicting");
    expect(await codeOf(call("git_push", { branch_name: "--mirror" }))).toBe("bad_name");
    expect(await codeOf(call("git_push", { branch_name: "nothing" }))).toBe("bad_revision");
  });

  it("replaces a branch with a lease: shows the loss, keeps it, and stops if the remote has moved", async () => {
    const { root, bare } = await cloned();
    const old = git(root, "rev-parse", "HEAD").trim();
    git(root, "reset", "--quiet", "--hard", "HEAD~1");
    commitFiles(root, "Rewritten", { "x.txt": "x\n" });
    const force = (asked: ReturnType<typeof fakeCall>) =>
      call("git_push_force_with_lease", {}, asked);
    expect((await failureOf(force(fakeCall({ agrees: false })))).kind).toBe("denied");
    expect(git(bare, "rev-parse", "main").trim()).toBe(old);
    const asked = fakeCall({ agrees: true });
    const { data } = await force(asked);
    expect(asked.questions[0]).toMatch(/This discards 1 commit there: "\w+ Our line"/);
    expect(git(bare, "rev-parse", "main")).toBe(git(root, "rev-parse", "main"));
    expect(git(root, "rev-parse", String(data.recovery)).trim()).toBe(old);
    expect(data.undo).toBe(`git_reset_hard with revision ${old}, then git_push_force_with_lease`);
    git(bare, "update-ref", "refs/heads/main", "feature");
    expect(await codeOf(force(fakeCall({ agrees: true })))).toBe("stale_lease");
    expect(git(bare, "rev-parse", "main")).toBe(git(bare, "rev-parse", "feature"));
  });

  it("deletes a branch that has not moved: states the loss, keeps it, and its undo works", async () => {
    const { root, bare } = await cloned();
    const tip = git(bare, "rev-parse", "feature").trim();
    const remove = (name: string, asked = fakeCall({ agrees: true })) =>
      call("git_delete", { kind: "branch", name, remote: "origin" }, asked);
    git(bare, "update-ref", "refs/heads/feature", "main");
    expect(await codeOf(remove("feature"))).toBe("stale_lease");
    git(bare, "update-ref", "refs/heads/feature", tip);
    expect(await codeOf(remove("nothing"))).toBe("no_lease");
    expect(await codeOf(remove("--mirror"))).toBe("bad_revision");
    expect(await codeOf(remove("feature", fakeCall({ agrees: false })))).toBe("declined");
    expect(git(bare, "rev-parse", "feature").trim()).toBe(tip);
    const asked = fakeCall({ agrees: true });
    const { data } = await remove("feature", asked);
    expect(asked.questions[0]).toMatch(
      /^Delete feature on origin, at [0-9a-f]{10}\? 1 commit on no other branch known here: "\w+ Feature work"/,
    );
    expect(git(bare, "branch", "--list", "feature")).toBe("");
    expect(git(root, "branch", "--list", "--remotes", "origin/feature")).toBe("");
    expect(git(root, "rev-parse", String(data.recovery)).trim()).toBe(tip);
    await call("git_create_branch", { branch_name: "feature", base_branch: tip });
    await call("git_push", { branch_name: "feature" });
    expect(git(bare, "rev-parse", "feature").trim()).toBe(tip);
  });
});

describe("allowed remotes", () => {
  it("a URL with an allowed scheme, and nothing that ssh or git would interpret as more", async () => {
    const clone = (url: string) =>
      codeOf(callTool(over({}), "git_clone", { url, path: place.path("x") }));
    const schemes = ["ext::x", "fd::17", "file:///etc", "/etc", "../source", "ftp://example.org/x"];
    for (const url of [...schemes, "http://example.org/x", "git://example.org/x"])
      expect(await clone(url), url).toBe("protocol_not_allowed");
    const ssh = ["ssh://-oProxyCommand=x/x", "ssh://-oProxyCommand=x@example.org/x"];
    const options = ["ext::sh -c touch% ran", "-oProxyCommand=x:y", "--upload-pack=x"];
    for (const url of [...ssh, ...options, "https://example.org/a\nb"])
      expect(await clone(url), url).toBe("bad_url");
    expect(existsSync(place.path("x"))).toBe(false);
  });

  it("no local path: git would run the other repository's hooks, whatever the command's configuration says", async () => {
    const { root, bare } = await cloned();
    const { program, log } = canary(place.path("evil"));
    hooksInto(join(bare, "hooks"), program);
    git(root, "config", "remote.origin.url", bare);
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Mine");
    expect(await codeOf(call("git_push"))).toBe("protocol_not_allowed");
    expect(existsSync(log)).toBe(false);
    git(root, "-c", "core.hooksPath=/dev/null", "push", "--quiet", "origin", "main");
    expect(existsSync(log), "no trap").toBe(true);
  });

  it("no private address, unless the user allows its host", async () => {
    const clone = (url: string) =>
      codeOf(callTool(over({}), "git_clone", { url, path: place.path("x") }));
    const hosts = "localhost 10.0.0.1 169.254.169.254 100.64.0.1 [::1] [::ffff:127.0.0.1] 0x7f.1 0";
    for (const host of hosts.split(" "))
      expect(await clone(`https://${host}/x.git`), host).toBe("host_not_allowed");
  });

  it("no redirect elsewhere", async () => {
    const { server } = await upstream();
    const redirecting = await serveGit(place.folder, { redirect: server.url });
    servers.push(redirecting);
    const url = `${redirecting.url}/upstream.git`;
    expect(await codeOf(callTool(over(), "git_clone", { url, path: place.path("x") }))).toBe(
      "redirect_refused",
    );
    expect(server.requests).toEqual([]);
  });

  it("asks the user's credential helper and never the repository's", async () => {
    const { root } = await cloned();
    const closed = await serveGit(place.path("served"), { login: "ada:right" });
    servers.push(closed);
    git(root, "config", "remote.origin.url", `${closed.url}/upstream.git`);
    const mark = place.path("ran");
    const evil = `!touch ${mark}; echo username=ada; echo password=right`;
    git(root, "config", "credential.helper", evil);
    git(root, "config", `credential.${closed.url}.helper`, `!touch ${mark}`);
    const error = await failureOf(call("git_fetch"));
    expect(error).toMatchObject({ kind: "unavailable", code: "auth_required" });
    expect(existsSync(mark)).toBe(false);
    const helper = executable(place.path("helper.sh"), "echo username=ada\necho password=right");
    appendFileSync(join(place.home, ".gitconfig"), `[credential]\n\thelper = ${helper}\n`);
    expect((await call("git_fetch")).data.remote).toBe("origin");
    expect(existsSync(mark)).toBe(false);
  });

  it("pins a name to the address that was checked, and shows no password", async () => {
    const rules = { protocols: ["https", "ssh"], allowedHosts: ["10.1.2.3", "localhost"] };
    const check = (url: string) => checkAddress(parseRemote(url, rules), rules);
    expect(await check("https://10.1.2.3/x.git")).toEqual([]);
    const [pin] = await check("https://localhost:8443/x.git");
    expect(pin?.[0]).toBe("http.curloptResolve");
    expect(pin?.[1]).toMatch(/^localhost:8443:(?:127\.0\.0\.1|\[::1\])/);
    const attempt = () => parseRemote("http://me:sesame@-example.org/x", rules);
    expect(attempt).toThrow(/^(?!.*sesame)/);
  });
});

describe("an allowed remote", () => {
  /** A server that is not allowed, and the requests that it received. */
  async function elsewhere(): Promise<{ url: string; requests: string[] }> {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
    servers.push({ close: async () => void server.close() });
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
    await call("git_fetch").catch(() => undefined);
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
    expect(await codeOf(call("git_fetch"))).toBe("host_not_allowed");
    expect(requests).toEqual([]);
  });
});
