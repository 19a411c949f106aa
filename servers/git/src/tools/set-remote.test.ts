import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

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
