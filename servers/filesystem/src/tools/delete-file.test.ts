import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import deleteFile from "./delete-file.ts";

it("moves a deleted file to the journal without asking", async () => {
  const { files, at, put, list } = await scratch();
  await put("a.txt", "abc");
  const call = fakeCall();
  const answer = String(await use(deleteFile, files, { path: "a.txt" }, call));
  expect(answer.replace(/\w{9}-\w{6}/, "ID")).toBe(
    `Deleted "${at("a.txt")}", 1 file (3 B). Change ID.`,
  );
  expect([call.questions, await list()]).toEqual([[], []]);
});

it("states the exact loss before deleting a non-empty directory", async () => {
  const { files, put, list, another } = await scratch({ journalDays: 0 });
  await put("dir/a", "abc");
  await expect(use(deleteFile, files, { path: "dir" })).rejects.toMatchObject({
    hint: expect.stringContaining("recursive"),
  });
  const refused = fakeCall({ agrees: false });
  await expect(
    use(deleteFile, files, { path: "dir", recursive: true }, refused),
  ).rejects.toMatchObject({
    kind: "denied",
  });
  expect(refused.questions).toEqual([expect.stringContaining("and its contents: 1 file (3 B)?")]);
  expect(await list()).toEqual(["dir"]);
  const answer = await use(
    deleteFile,
    files,
    { path: "dir", recursive: true },
    fakeCall({ agrees: true }),
  );
  expect(answer).toContain(
    "a directory with 1 file (3 B). Cannot be undone: nothing is kept (--journal-days 0).",
  );
  expect(await list()).toEqual([]);

  await put("dir/a", "abc");
  const undoable = fakeCall({ agrees: false });
  await use(deleteFile, another(), { path: "dir", recursive: true }, undoable);
  expect([undoable.questions, await list()]).toEqual([[], []]);
});
