import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import review from "./review-recent-changes.ts";

it("lists the changes, names on one line each", async () => {
  const { files, at } = await scratch();
  expect(await review.run({}, files, fakeCall())).toContain("Nothing was changed");
  await files.write({ path: at("a\n- fake"), content: "a", mode: "create", create_parents: false });
  await files.move({ source: at("a\n- fake"), destination: at("b"), overwrite: false });
  const text = String(await review.run({ path: at() }, files, fakeCall()));
  const lines = text.split("\n").filter((line) => line.startsWith("- "));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain(`move ${at("a\\n- fake")} → ${at("b")}`);
  expect(text).toContain("undo_change");
});
