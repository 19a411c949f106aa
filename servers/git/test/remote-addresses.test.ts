import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, failureOf, git } from "./fixture.ts";
import { serveGit } from "./http-server.ts";
import { canary, hooksInto } from "./traps.ts";
import { cloned, over, place, servers, upstream, useTestDirectory } from "./upstream.ts";

useTestDirectory();

describe("allowed remotes", () => {
  it("a URL with an allowed scheme, and nothing that ssh or git would interpret as more", async () => {
    const clone = (url: string) =>
      codeOf(callTool(over({}), "git_clone", { url, path: place.path("x") }));
    const refused: Readonly<Record<string, string>> = {
      "ext::sh -c touch% ran": "bad_url",
      "ext::x": "protocol_not_allowed",
      "fd::17": "protocol_not_allowed",
      "file:///etc": "protocol_not_allowed",
      "/etc": "protocol_not_allowed",
      "../source": "protocol_not_allowed",
      "http://example.org/x": "protocol_not_allowed",
      "git://example.org/x": "protocol_not_allowed",
      "ftp://example.org/x": "protocol_not_allowed",
      "ssh://-oProxyCommand=touch%20ran/x": "bad_url",
      "ssh://-oProxyCommand=x@example.org/x": "bad_url",
      "-oProxyCommand=x:y": "bad_url",
      "--upload-pack=x": "bad_url",
      "https://example.org/a\nb": "bad_url",
    };
    for (const [url, code] of Object.entries(refused)) expect(await clone(url), url).toBe(code);
    expect(existsSync(place.path("x"))).toBe(false);
  });

  it("no local path: git would run the other repository's hooks, whatever the command's configuration says", async () => {
    const { root, bare } = await cloned();
    const { program, log } = canary(place.path("evil"));
    hooksInto(join(bare, "hooks"), program);
    git(root, "config", "remote.origin.url", bare);
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Mine");
    expect(await codeOf(callTool(over(), "git_push", { repo_path: root }))).toBe(
      "protocol_not_allowed",
    );
    expect(existsSync(log)).toBe(false);
    git(root, "-c", "core.hooksPath=/dev/null", "push", "--quiet", "origin", "main");
    expect(existsSync(log), "no trap").toBe(true);
  });

  it("no private address, unless the user allows its host", async () => {
    const clone = (url: string) =>
      codeOf(callTool(over({}), "git_clone", { url, path: place.path("x") }));
    for (const host of [
      "127.0.0.1",
      "localhost",
      "10.0.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "[::1]",
      "[fd00::1]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "2130706433",
      "0x7f.1",
      "0",
    ])
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

  it("not what the repository's configuration rewrites it to", async () => {
    const { root, server } = await cloned();
    const before = server.requests.length;
    for (const [key, value] of [
      ["url.http://127.0.0.1:1/.insteadOf", server.url],
      ["url.ext::sh -c x.pushInsteadOf", server.url],
      ["http.proxy", "http://127.0.0.1:1"],
      ["http.sslVerify", "false"],
      ["http.curloptResolve", "x:80:127.0.0.1"],
      ["http.cookieFile", "/etc/passwd"],
      ["remote.origin.vcs", "ext"],
      ["remote.origin.proxy", "http://127.0.0.1:1"],
      ["fetch.bundleURI", "http://127.0.0.1:1"],
      ["remotes.origin", "another"],
    ] as const) {
      git(root, "config", key, value);
      expect(await codeOf(callTool(over(), "git_fetch", { repo_path: root })), key).toBe(
        "unsafe_config",
      );
      expect(await codeOf(callTool(over(), "git_push", { repo_path: root })), key).toBe(
        "unsafe_config",
      );
      git(root, "config", "--unset", key);
    }
    expect(server.requests.length).toBe(before);
    expect((await callTool(over(), "git_fetch", { repo_path: root })).data.count).toBe(0);
  });

  it("none of a remote's URLs that a later version of git may use (an empty one removes earlier ones)", async () => {
    const { root, server } = await cloned();
    const before = server.requests.length;
    for (const urls of [
      ["", "https://10.0.0.1/x.git"],
      ["https://10.0.0.1/x.git", ""],
    ]) {
      git(root, "config", "--replace-all", "remote.origin.url", `${server.url}/upstream.git`);
      for (const url of urls) git(root, "config", "--add", "remote.origin.url", url);
      for (const tool of ["git_fetch", "git_push"])
        expect(await codeOf(callTool(over(), tool, { repo_path: root })), tool).toBe(
          "host_not_allowed",
        );
    }
    expect(server.requests.length).toBe(before);
  });

  it("asks the user's credential helper and never the repository's", async () => {
    const { root } = await cloned();
    const closed = await serveGit(place.path("served"), { login: "ada:right" });
    servers.push(closed);
    git(root, "config", "remote.origin.url", `${closed.url}/upstream.git`);
    const mark = place.path("ran");
    git(
      root,
      "config",
      "credential.helper",
      `!touch ${mark}; echo username=ada; echo password=right`,
    );
    git(root, "config", `credential.${closed.url}.helper`, `!touch ${mark}`);
    const error = await failureOf(callTool(over(), "git_fetch", { repo_path: root }));
    expect(error).toMatchObject({ kind: "unavailable", code: "auth_required" });
    expect(existsSync(mark)).toBe(false);
    const helper = place.path("helper.sh");
    writeFileSync(helper, "#!/bin/sh\necho username=ada\necho password=right\n", { mode: 0o755 });
    appendFileSync(join(place.home, ".gitconfig"), `[credential]\n\thelper = ${helper}\n`);
    expect((await callTool(over(), "git_fetch", { repo_path: root })).data.remote).toBe("origin");
    expect(existsSync(mark)).toBe(false);
  });
});
