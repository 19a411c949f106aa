import {
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
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { itLong } from "../../../../../vitest.long.ts";
import {
  callTool,
  codeOf,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  write,
} from "../../../test/fixture.ts";
import { canary, hooksInto, set } from "../../../test/traps.ts";
import { cloned, over, place, useTestDirectory } from "../../../test/upstream.ts";

useTestDirectory();

/** A clone whose commit has a submodule `lib` that the server has as `inner.git`. */
async function withSubmodule(url = "../inner.git", path = "lib", name = path) {
  const inner = emptyRepository(place.path("inner"));
  const first = commitFiles(inner, "First", { "in.c": "one\n" });
  const { root, bare, server } = await cloned();
  git(place.folder, "clone", "--quiet", "--bare", "inner", "served/inner.git");
  register(root, url, path, name, first);
  return { root, bare, server, inner, first };
}

function register(root: string, url: string, path: string, name: string, commit: string): void {
  for (const [key, value] of [
    ["path", path],
    ["url", url],
  ] as const)
    git(root, "config", "--file", ".gitmodules", `submodule.${name}.${key}`, value);
  git(root, "update-index", "--add", "--cacheinfo", `160000,${commit},${path}`);
  git(root, "add", ".gitmodules");
}

const update = (root: string, args: object = {}, call = fakeCall()) =>
  callTool(over(), "git_submodule_update", { repo_path: root, ...args }, call);

describe("git_submodule_update", () => {
  it("clones a submodule as git would, with progress, and moves it to a newer commit", async () => {
    const { root, inner, first } = await withSubmodule();
    const call = fakeCall();
    const { data } = await update(root, { paths: ["lib"] }, call);
    expect(data.submodules).toMatchObject([{ path: "lib", commit: first, cloned: true }]);
    expect(call.reported.length).toBeGreaterThan(0);
    expect(readFileSync(join(root, "lib", "in.c"), "utf8")).toBe("one\n");
    expect(git(root, "submodule", "status")).toMatch(new RegExp(`^ ${first} lib`));
    expect(git(root, "status", "--porcelain", "lib")).toBe("A  lib\n");
    const second = commitFiles(inner, "Second", { "in.c": "two\n" });
    git(inner, "push", "--quiet", place.path("served", "inner.git"), "main");
    git(root, "update-index", "--cacheinfo", `160000,${second},lib`);
    expect((await update(root)).data.submodules).toMatchObject([{ before: first, commit: second }]);
    expect(readFileSync(join(root, "lib", "in.c"), "utf8")).toBe("two\n");
    git(root, "submodule", "deinit", "--force", "--quiet", "lib");
    await update(root);
    expect(git(root, "submodule", "status")).toMatch(new RegExp(`^ ${second} lib`));
    expect(await codeOf(update(root, { paths: ["src"] }))).toBe("bad_path");
  });

  itLong("loses no changes and no commits in a submodule", async () => {
    const { root, inner } = await withSubmodule();
    await update(root);
    const lib = join(root, "lib");
    const second = commitFiles(inner, "Second", { "in.c": "two\n" });
    git(inner, "push", "--quiet", place.path("served", "inner.git"), "main");
    git(root, "update-index", "--cacheinfo", `160000,${second},lib`);
    write(lib, "in.c", "mine\n");
    expect(await codeOf(update(root))).toBe("local_changes");
    expect(readFileSync(join(lib, "in.c"), "utf8")).toBe("mine\n");
    git(lib, "commit", "--quiet", "-am", "Mine");
    const mine = git(lib, "rev-parse", "HEAD").trim();
    const { data } = await update(root);
    const [{ recovery, before }] = data.submodules as [{ recovery: string; before: string }];
    expect([before, git(lib, "rev-parse", recovery).trim()]).toEqual([mine, mine]);
  });

  itLong("leaves files alone that are where a submodule belongs", async () => {
    const { root } = await withSubmodule();
    write(root, "lib/mine.txt", "mine\n");
    expect(await codeOf(update(root))).toBe("path_exists");
    expect(readdirSync(join(root, "lib"))).toEqual(["mine.txt"]);
    expect(existsSync(join(root, ".git", "modules"))).toBe(false);
  });
});

describe("a hostile submodule", () => {
  /** Registers another submodule in place of the last one. */
  function replace(root: string, url: string, name: string, commit: string): void {
    rmSync(join(root, ".gitmodules"), { force: true });
    register(root, url, "lib", name, commit);
  }

  itLong("contacts nothing at a URL that is more than that (CVE-2018-17456)", async () => {
    const urls = {
      "-u./payload": "bad_url",
      "--upload-pack=touch ran": "bad_url",
      "ext::sh -c x": "bad_url",
      "ext::sh": "protocol_not_allowed",
      "file:///etc": "protocol_not_allowed",
      "/etc": "protocol_not_allowed",
      "ssh://-oProxyCommand=x/y": "bad_url",
      "https://10.0.0.1/x.git": "host_not_allowed",
    };
    const { root, server, first } = await withSubmodule();
    const before = server.requests.length;
    for (const [url, code] of Object.entries(urls)) {
      replace(root, url, "lib", first);
      expect(await codeOf(update(root)), url).toBe(code);
      expect(server.requests, url).toHaveLength(before);
      expect(existsSync(join(root, ".git", "modules", "lib")), url).toBe(false);
    }
  });

  itLong("has no name that leads elsewhere (CVE-2018-11235, CVE-2025-48384)", async () => {
    const { root, first } = await withSubmodule();
    for (const name of ["../../evil", "a/../../x", ".git/x", "-x", "a\rb", "x/.GIT"]) {
      replace(root, "../inner.git", name, first);
      expect(await codeOf(update(root)), name).toBe("unsafe_submodule");
      expect(existsSync(join(root, "lib")), name).toBe(false);
    }
  });

  it("is not written through a link, in the working tree or the git directory (CVE-2024-32002)", async () => {
    const { root } = await withSubmodule("../inner.git", "a/lib");
    mkdirSync(join(root, "elsewhere"));
    symlinkSync("elsewhere", join(root, "a"));
    expect(await codeOf(update(root))).toBe("unsafe_submodule");
    renameSync(join(root, "a"), join(root, "b"));
    mkdirSync(join(root, ".git", "modules"));
    symlinkSync("../../elsewhere", join(root, ".git", "modules", "a"));
    expect(await codeOf(update(root))).toBe("unsafe_submodule");
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
  });

  itLong("has no git directory inside another one's (CVE-2019-1387)", async () => {
    const { root, first } = await withSubmodule();
    register(root, "../inner.git", "other", "lib/hooks", first);
    const error = await failureOf(update(root));
    expect(error.code).toBe("unsafe_submodule");
    expect(existsSync(join(root, ".git", "modules", "lib", "hooks"))).toBe(false);
  });

  itLong("does not make the repository itself its git directory", async () => {
    const { root } = await withSubmodule();
    mkdirSync(join(root, "lib"));
    writeFileSync(join(root, "lib", ".git"), "gitdir: ../.git\n");
    expect(await codeOf(update(root))).toBe("unsafe_submodule");
  });

  it("runs nothing that its git directory or .gitmodules specifies", async () => {
    const { root, inner } = await withSubmodule();
    await update(root);
    git(root, "submodule", "deinit", "--force", "--quiet", "lib");
    const { program, log } = canary(place.path("evil"));
    const modules = join(root, ".git", "modules", "lib");
    hooksInto(join(modules, "hooks"), program);
    for (const key of ["core.fsmonitor", "filter.x.smudge", "core.sshCommand"])
      git(modules, "config", "--file", "config", key, program);
    write(modules, "info/attributes", "* filter=x\n");
    set(root, ["submodule.lib.update", `!${program}`]);
    git(root, "config", "--file", ".gitmodules", "submodule.lib.update", "checkout");
    const commit = commitFiles(inner, "Second", { "in.c": "two\n" });
    git(inner, "push", "--quiet", place.path("served", "inner.git"), "main");
    git(root, "update-index", "--cacheinfo", `160000,${commit},lib`);
    expect((await update(root)).data.submodules).toMatchObject([{ commit }]);
    expect(existsSync(log)).toBe(false);
    expect(readFileSync(join(root, "lib", "in.c"), "utf8")).toBe("two\n");
    git(join(root, "lib"), "status");
    expect(existsSync(log), "no trap").toBe(true);
  });
});
