import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connectInMemory, fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { checkAddress, parseRemote } from "../src/git/remote/address.ts";
import { server as definition } from "../src/server.ts";
import {
  at,
  callTool,
  cloned,
  codeOf,
  failureOf,
  git,
  gitOver,
  LOOPBACK,
  place,
  serve,
  servers,
  useTestDirectory,
} from "./fixture.ts";
import { canary, executable, hooksInto, set } from "./traps.ts";
import { ALL_TOOLS } from "./world.ts";

useTestDirectory();

const agreeing = () => fakeCall({ agrees: true });
const clone = (args: object, options = LOOPBACK, asked = fakeCall()) =>
  callTool(gitOver([place.folder], options), "git_clone", { ...args }, asked);
const isIncreasing = ({ reported }: ReturnType<typeof fakeCall>) => {
  const steps = reported.map(({ done }) => done);
  expect(steps.length).toBeGreaterThan(0);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
};

describe("a clone", () => {
  it("reports progress, takes a branch and a depth, and leaves nothing behind on failure", async () => {
    const { url } = await cloned();
    const asked = fakeCall();
    const { data } = await clone({ url, path: place.path("new") }, LOOPBACK, asked);
    expect(data).toMatchObject({ repository: place.path("new"), url, branch: "main" });
    isIncreasing(asked);
    expect(asked.reported[0]?.note).toMatch(/\d+%/);
    await clone({ url, path: place.path("shallow"), branch: "feature", depth: 1 });
    expect(git(place.path("shallow"), "rev-list", "--count", "HEAD").trim()).toBe("1");
    for (const [args, code] of [
      [{ path: place.path("deep", "er"), branch: "nothing" }, "remote_not_found"],
      [{ path: place.path("source") }, "path_exists"],
      [{ path: join(place.home, "x") }, "outside"],
    ] as const)
      expect(await codeOf(clone({ url, ...args }))).toBe(code);
    expect(existsSync(place.path("deep"))).toBe(false);
    expect(existsSync(place.path("source", ".git"))).toBe(true);
  });

  it("executes nothing it brings along: no hooks, filters, submodules or templates", async () => {
    const { url, bare, source } = await cloned();
    const mark = place.path("ran");
    const trap = executable(place.path("trap.sh"), `echo ran >> "${mark}"\ncat`);
    executable(place.path("template", "hooks", "post-checkout"), `touch "${mark}"`);
    source.write(".gitmodules", `[submodule "s"]\n\tpath = s\n\turl = ${url}\n`);
    source.git("update-index", "--add", "--cacheinfo", `160000,${source.id("HEAD")},s`);
    source.git("add", ".gitmodules");
    source.git("commit", "--quiet", "-m", "Submodule");
    source.git("push", "--quiet", bare.root, "main");
    appendFileSync(
      join(place.home, ".gitconfig"),
      `[init]\n\ttemplateDir = ${place.path("template")}\n[filter "evil"]\n\tsmudge = ${trap}\n\tclean = ${trap}\n[submodule]\n\trecurse = true\n`,
    );
    await clone({ url, path: place.path("safe") });
    expect(existsSync(mark)).toBe(false);
    expect(readdirSync(place.path("safe", "s"))).toEqual([]);
    expect(existsSync(place.path("safe", ".git", "hooks"))).toBe(false);
    expect(git(place.path("safe"), "show", "HEAD:src/app.ts")).toContain("OURS");
    git(place.folder, "clone", "--quiet", bare.root, "plain");
    expect(existsSync(mark), "no trap").toBe(true);
  });

  it("that the client cancels, over the protocol, leaves nothing", async () => {
    const { url, server } = await cloned({ stallAfter: 10 });
    const allowed = ["--protocols", "http", "--allow-host", "127.0.0.1"];
    const args = [place.folder, ...ALL_TOOLS, ...allowed];
    const { client, close } = await connectInMemory(definition, { args });
    const before = readdirSync(place.folder);
    const stop = new AbortController();
    const call = { name: "git_clone", arguments: { url, path: "deep/stalled" } };
    const failed = client.callTool(call, { signal: stop.signal }).catch(() => "cancelled");
    await server.stalled;
    stop.abort();
    expect(await failed).toBe("cancelled");
    // The directories are removed after git has exited.
    await expect.poll(() => readdirSync(place.folder)).toEqual(before);
    await close();
  });

  it("fetch and push stop when the call ends, and leave nothing half done", async () => {
    const { root, source, bare } = await cloned();
    const here = at(root, LOOPBACK);
    for (const [tool, options] of [
      ["git_fetch", { stallAfter: 2_000 }],
      ["git_push", { stallOn: "/git-receive-pack" }],
    ] as const) {
      const slow = await serve("served", options);
      here.git("config", "remote.origin.url", `${slow.url}/upstream.git`);
      if (tool === "git_push") here.commit("Mine", { "mine.txt": "x\n" });
      else source.commit("Large", { "large.bin": Buffer.alloc(3_000_000, "abcdefgh") });
      source.git("push", "--quiet", bare.root, "main:large");
      const state = () => here.git("for-each-ref") + bare.git("for-each-ref");
      const before = state();
      const stopped = fakeCall();
      const work = failureOf(here.call(tool, {}, stopped));
      await slow.stalled;
      stopped.cancel();
      expect((await work).kind, tool).toBe("cancelled");
      expect(state()).toBe(before);
      expect((await here.call("git_status")).data.staged).toEqual([]);
    }
  });
});

describe("git_fetch and git_pull", () => {
  it("move remote branches only, for any refspec, and pull never merges", async () => {
    const { call, code, id, bare, source, ...here } = await cloned();
    here.git("config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*");
    bare.git("branch", "fresh", "feature");
    const pushed = (message: string, files: Record<string, string>) => {
      source.commit(message, files);
      source.git("push", "--quiet", bare.root, "main");
    };
    pushed("News", { "news.txt": "x\n" });
    const local = here.git("for-each-ref", "refs/heads");
    const asked = fakeCall();
    const { data } = await call("git_fetch", {}, asked);
    isIncreasing(asked);
    expect(data.updated).toEqual([
      { ref: "refs/remotes/origin/fresh", after: bare.id("feature") },
      { ref: "refs/remotes/origin/main", before: id("main"), after: bare.id("main") },
    ]);
    expect(here.git("for-each-ref", "refs/heads")).toBe(local);
    bare.git("branch", "-D", "fresh");
    const pruned = await call("git_fetch", { prune: true });
    expect(JSON.stringify(pruned.data.updated)).toContain("origin/fresh");
    const files = [{ path: "news.txt", status: "added" }];
    expect((await call("git_pull")).data).toMatchObject({ fast_forward: true, files });
    const head = here.commit("Mine");
    pushed("More", { "more.txt": "x\n" });
    expect(await code("git_pull")).toBe("not_fast_forward");
    expect(id("HEAD")).toBe(head);
    for (const args of [{ remote: "orign" }, { branch_name: "none" }])
      expect(await code("git_fetch", args)).toBe("remote_not_found");
    here.git("config", "remote.origin.url", "http://127.0.0.1:1/x.git");
    expect(await code("git_fetch")).toBe("remote_unreachable");
  });
});

describe("git_push, with and without force, and git_delete on a remote", () => {
  it("sends one branch and a tag, never the recovery ref, and refuses to lose remote commits", async () => {
    const { call, code, commit, id, bare, ...here } = await cloned();
    commit("Mine", { "mine.txt": "x\n" });
    here.git("tag", "v3");
    here.write("mine.txt", "changed\n");
    await call("git_restore", { files: ["mine.txt"] });
    here.git("config", "remote.origin.push", "+refs/*:refs/*");
    here.git("config", "remote.origin.mirror", "true");
    const asked = agreeing();
    expect((await call("git_push", { tag: "v3" }, asked)).data.pushed).toHaveLength(2);
    isIncreasing(asked);
    expect([bare.id("main"), bare.id("v3")]).toEqual([id("main"), id("v3")]);
    expect(bare.git("for-each-ref", "refs/refmcp")).toBe("");
    here.git("reset", "--quiet", "--hard", "HEAD~2");
    commit("Other", { "other.txt": "x\n" });
    expect(await code("git_push")).toBe("not_fast_forward");
    expect(bare.git("log", "-1", "--format=%s", "main").trim()).toBe("Mine");
    expect(bare.git("for-each-ref", "--format=%(refname)")).toContain("refs/heads/conflicting");
    expect(await code("git_push", { branch_name: "--mirror" })).toBe("bad_name");
    expect(await code("git_push", { branch_name: "nothing" })).toBe("bad_revision");
  });

  it("replaces a branch with a lease: shows the loss, keeps it, and stops if the remote has moved", async () => {
    const { call, code, commit, id, bare, ...here } = await cloned();
    const old = id("HEAD");
    here.git("reset", "--quiet", "--hard", "HEAD~1");
    commit("Rewritten", { "x.txt": "x\n" });
    const force = "git_push_force_with_lease";
    expect(await code(force, {}, fakeCall({ agrees: false }))).toBe("declined");
    expect(bare.id("main")).toBe(old);
    const asked = agreeing();
    const { data } = await call(force, {}, asked);
    expect(asked.questions[0]).toMatch(/This discards 1 commit there: "\w+ Our line"/);
    expect(bare.id("main")).toBe(id("main"));
    expect(id(String(data.recovery))).toBe(old);
    expect(data.undo).toBe(`git_reset_hard with revision ${old}, then git_push_force_with_lease`);
    bare.git("update-ref", "refs/heads/main", "feature");
    expect(await code(force, {}, agreeing())).toBe("stale_lease");
    expect(bare.id("main")).toBe(bare.id("feature"));
  });

  it("deletes a branch that has not moved: states the loss, keeps it, and its undo works", async () => {
    const { call, code, id, bare, ...here } = await cloned();
    const tip = bare.id("feature");
    const branch = (name: string) => ({ kind: "branch", name, remote: "origin" });
    bare.git("update-ref", "refs/heads/feature", "main");
    expect(await code("git_delete", branch("feature"), agreeing())).toBe("stale_lease");
    bare.git("update-ref", "refs/heads/feature", tip);
    const declining = fakeCall({ agrees: false });
    expect(await code("git_delete", branch("feature"), declining)).toBe("declined");
    expect(await code("git_delete", branch("nothing"))).toBe("no_lease");
    expect(await code("git_delete", branch("--mirror"))).toBe("bad_revision");
    expect(bare.id("feature")).toBe(tip);
    const asked = agreeing();
    const { data } = await call("git_delete", branch("feature"), asked);
    expect(asked.questions[0]).toMatch(
      /^Delete feature on origin, at [0-9a-f]{10}\? 1 commit on no other branch known here: "\w+ Feature work"/,
    );
    expect(bare.git("branch", "--list", "feature")).toBe("");
    expect(here.git("branch", "--list", "--remotes", "origin/feature")).toBe("");
    expect(id(String(data.recovery))).toBe(tip);
    await call("git_create_branch", { branch_name: "feature", base_branch: tip });
    await call("git_push", { branch_name: "feature" });
    expect(bare.id("feature")).toBe(tip);
  });
});

describe("allowed remotes", () => {
  it("a URL with an allowed scheme and no private address, and nothing that ssh or git would interpret as more", async () => {
    const urls = {
      protocol_not_allowed:
        "ext::x fd::17 file:///etc /etc ../source ftp://example.org/x http://example.org/x git://example.org/x",
      bad_url:
        "ssh://-oProxyCommand=x/x ssh://-oProxyCommand=x@example.org/x -oProxyCommand=x:y --upload-pack=x",
      host_not_allowed:
        "https://localhost/x https://10.0.0.1/x https://169.254.169.254/x https://100.64.0.1/x https://[::1]/x https://[::ffff:127.0.0.1]/x https://0x7f.1/x https://0/x",
    };
    const code = (url: string) => codeOf(clone({ url, path: place.path("x") }, {}));
    for (const [expected, text] of Object.entries(urls))
      for (const url of text.split(" ")) expect(await code(url), url).toBe(expected);
    for (const url of ["ext::sh -c touch% ran", "https://example.org/a\nb"])
      expect(await code(url), url).toBe("bad_url");
    expect(existsSync(place.path("x"))).toBe(false);
  });

  it("no local path: git would run the other repository's hooks, despite the command's configuration", async () => {
    const { code, commit, bare, ...here } = await cloned();
    const { program, log } = canary(place.path("evil"));
    hooksInto(join(bare.root, "hooks"), program);
    here.git("config", "remote.origin.url", bare.root);
    commit("Mine");
    expect(await code("git_push")).toBe("protocol_not_allowed");
    expect(existsSync(log)).toBe(false);
    here.git("-c", "core.hooksPath=/dev/null", "push", "--quiet", "origin", "main");
    expect(existsSync(log), "no trap").toBe(true);
  });

  it("no redirect elsewhere", async () => {
    const { server } = await cloned();
    const { url } = await serve("", { redirect: server.url });
    const redirected = clone({ url: `${url}/upstream.git`, path: place.path("x") });
    expect(await codeOf(redirected)).toBe("redirect_refused");
    expect(server.requests).toEqual([]);
  });

  it("asks the user's credential helper and never the repository's", async () => {
    const { call, code, ...here } = await cloned();
    const { url } = await serve("served", { login: "ada:right" });
    here.git("config", "remote.origin.url", `${url}/upstream.git`);
    const mark = place.path("ran");
    const evil = `!touch ${mark}; echo username=ada; echo password=right`;
    here.git("config", "credential.helper", evil);
    here.git("config", `credential.${url}.helper`, `!touch ${mark}`);
    expect(await code("git_fetch")).toBe("auth_required");
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
  it("sends git to no other address: packfile URIs, and the objects of another remote (partial clone)", async () => {
    const requests: string[] = [];
    const elsewhere = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.2", resolve));
    servers.push({ close: async () => void elsewhere.close() });
    const url = `http://127.0.0.2:${(elsewhere.address() as AddressInfo).port}`;
    const { root, call, code, id, bare, source } = await cloned();
    const oid = source.commit("Big", { "big.bin": "x".repeat(5_000) });
    source.git("push", "--quiet", bare.root, `${oid}:refs/heads/news`);
    const pack = "0123456789012345678901234567890123456789";
    const steal = `${bare.id(`${oid}:big.bin`)} ${pack} ${url}/steal.pack`;
    bare.git("config", "uploadpack.blobPackfileUri", steal);
    bare.git("config", "uploadpack.allowSidebandAll", "true");
    set(root, ["fetch.uriProtocols", "http,https"], ["protocol.version", "2"]);
    await call("git_fetch").catch(() => undefined);
    expect(requests).toEqual([]);
    expect(id("refs/remotes/origin/news")).toBe(oid);
    set(root, ["core.repositoryFormatVersion", "1"], ["extensions.partialClone", "evil"]);
    set(root, ["remote.evil.url", `${url}/x.git`], ["remote.evil.promisor", "true"]);
    expect(await code("git_fetch")).toBe("host_not_allowed");
    expect(requests).toEqual([]);
  });
});
