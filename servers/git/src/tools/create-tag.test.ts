import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_create_tag", () => {
  it("creates annotated and lightweight tags", async () => {
    const { call, git } = sample();
    expect(
      (await call("git_create_tag", { tag_name: "v2", message: "Two\n\nMore." })).data.annotated,
    ).toBe(true);
    expect(git("cat-file", "-t", "v2").trim()).toBe("tag");
    expect(git("tag", "-l", "--format=%(contents)", "v2").trim()).toBe("Two\n\nMore.");
    await call("git_create_tag", { tag_name: "old", revision: "v0.9" });
    expect(git("rev-parse", "old")).toBe(git("rev-parse", "v0.9"));
  });

  it("never moves a tag, and does not accept an option as a name", async () => {
    const { call } = sample();
    expect((await failureOf(call("git_create_tag", { tag_name: "v1.0" }))).code).toBe("tag_exists");
    expect((await failureOf(call("git_create_tag", { tag_name: "-f" }))).code).toBe("bad_name");
  });
});
