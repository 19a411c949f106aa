import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");

describe("git_set_remote", () => {
  it("adds a remote and changes its URL, and shows no password", async () => {
    const { call, git } = sample();
    const first = { remote: "upstream", url: "https://ada:secret@git.example.org/a.git" };
    expect((await call("git_set_remote", first)).data).toEqual({
      remote: "upstream",
      url: "https://git.example.org/a.git",
    });
    const { data } = await call("git_set_remote", {
      remote: "upstream",
      url: "git@git.example.org:b.git",
    });
    expect(data).toMatchObject({
      url: "git@git.example.org:b.git",
      before: "https://git.example.org/a.git",
    });
    expect(git("remote", "get-url", "upstream").trim()).toBe("git@git.example.org:b.git");
  });

  it("renames and removes a remote, counts its branches, and can be undone", async () => {
    const { call, git } = sample();
    git("update-ref", "refs/remotes/origin/main", "main");
    git("update-ref", "refs/remotes/origin/side", "feature");
    git("update-ref", "refs/remotes/other/side", "feature");
    git("branch", "--quiet", "--set-upstream-to=origin/main", "main");
    const renamed = await call("git_set_remote", {
      remote: "origin",
      action: "rename",
      new_name: "upstream",
    });
    expect(renamed.data).toMatchObject({ remote: "upstream", branches: 2 });
    expect(git("rev-parse", "--abbrev-ref", "main@{upstream}").trim()).toBe("upstream/main");
    const { data, text } = await call("git_set_remote", { remote: "upstream", action: "remove" });
    expect(data).toMatchObject({ before: "https://git.example.org/team/sample.git", branches: 2 });
    expect(data.removed).toContain(`${git("rev-parse", "feature").trim()} upstream/side`);
    expect(text).not.toContain("sesame");
    expect(git("remote")).toBe("");
    expect(git("for-each-ref", "--format=%(refname)", "refs/remotes/").trim()).toBe(
      "refs/remotes/other/side",
    );
    await call("git_set_remote", { remote: "upstream", url: String(data.before) });
    expect(git("remote").trim()).toBe("upstream");
    const refused = async (args: object) =>
      (await failureOf(call("git_set_remote", { ...args }))).code;
    expect(await refused({ remote: "none", action: "remove" })).toBe("remote_not_found");
    const rename = { remote: "upstream", action: "rename" };
    expect(await refused({ ...rename, new_name: "--mirror" })).toBe("bad_name");
    expect(await refused(rename)).toBe("bad_name");
    expect(await refused({ ...rename, new_name: "upstream" })).toBe("remote_exists");
    expect(await refused({ remote: "upstream" })).toBe("protocol_not_allowed");
  });

  it("removing a remote deletes no local branch, whatever its refspec says", async () => {
    const { call, git } = sample();
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*");
    const before = git("for-each-ref", "refs/heads/");
    await call("git_set_remote", { remote: "origin", action: "remove" });
    expect(git("for-each-ref", "refs/heads/")).toBe(before);
  });

  it("refuses anything else that git would run or contact", async () => {
    const set = async (remote: string, url: string) =>
      (await failureOf(sample().call("git_set_remote", { remote, url }))).code;
    expect(await set("x", "ext::sh")).toBe("protocol_not_allowed");
    expect(await set("x", "/etc")).toBe("protocol_not_allowed");
    expect(await set("x", "ssh://-oProxyCommand=x/y")).toBe("bad_url");
    for (const name of ["-x", "--mirror=fetch", "a b", "a..b", "x.lock"])
      expect(await set(name, "https://git.example.org/a.git"), name).toBe("bad_name");
  });
});
