import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_delete_tag", () => {
  it("deletes a tag after asking, and keeps it", async () => {
    const { call, git } = sample();
    const tag = git("rev-parse", "v1.0").trim();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_delete_tag", { tag_name: "v1.0" }, asked);
    expect(asked.questions[0]).toContain("annotated tag v1.0");
    expect(git("tag", "--list", "v1.0")).toBe("");
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(tag);
  });

  it("changes nothing without confirmation, or if the tag does not exist", async () => {
    const { call, git } = sample();
    const refused = call("git_delete_tag", { tag_name: "v0.9" }, fakeCall({ agrees: false }));
    expect((await failureOf(refused)).kind).toBe("denied");
    expect(git("tag", "--list", "v0.9").trim()).toBe("v0.9");
    const missing = await failureOf(call("git_delete_tag", { tag_name: "v1.1" }));
    expect(missing.message).toBe('There is no tag "v1.1". Did you mean v1.0 or v0.9?');
    for (const tag_name of ["v7", "-d", "main"])
      expect((await failureOf(call("git_delete_tag", { tag_name }))).code, tag_name).toBe(
        "bad_revision",
      );
  });
});
