import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { callTool, failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_init", () => {
  it("creates a repository without a template", async () => {
    const { over, place } = sample();
    const { data } = await callTool(over, "git_init", {
      path: place.path("a", "b"),
      initial_branch: "trunk",
    });
    expect(data).toEqual({ repository: place.path("a", "b"), branch: "trunk" });
    expect(existsSync(place.path("a", "b", ".git", "HEAD"))).toBe(true);
    expect(existsSync(place.path("a", "b", ".git", "hooks"))).toBe(false);
  });

  it("refuses an existing repository, an invalid branch, and a path outside", async () => {
    const { over, place, root } = sample();
    const code = async (args: object) =>
      (await failureOf(callTool(over, "git_init", { ...args }))).code;
    expect(await code({ path: root })).toBe("already_a_repository");
    expect(await code({ path: place.path("x"), initial_branch: "a..b" })).toBe("bad_name");
    expect(existsSync(place.path("x"))).toBe(false);
    expect(await code({ path: place.home })).toBe("outside");
  });
});
