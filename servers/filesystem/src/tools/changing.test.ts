import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import copyFile from "./copy-file.ts";
import createDirectory from "./create-directory.ts";
import deleteFile from "./delete-file.ts";
import moveFile from "./move-file.ts";
import undoChange from "./undo-change.ts";
import writeFile from "./write-file.ts";

it("create_directory creates parents as one change, which one undo removes", async () => {
  const { files, list, put } = await scratch();
  const answer = String(await use(createDirectory, files, { path: "a/b/c" }));
  await use(undoChange, files, { id: /Change ([\w-]+)/.exec(answer)?.[1] ?? "" });
  expect(await list()).toEqual([]);
  await put("file", "a");
  await expect(use(createDirectory, files, { path: "file/c" })).rejects.toThrow();
  expect(await list()).toEqual(["file"]);
});

it("write_file reports the change and how to undo it", async () => {
  const { files, at, put, read } = await scratch();
  await put("a.txt", "old\n");
  const call = fakeCall();
  const answer = String(
    await use(writeFile, files, { path: "a.txt", content: "new\nmore\n" }, call),
  );
  expect(answer.replace(/\w{9}-\w{6}/, "ID").replace(/\b[0-9a-f]{16}\b/, "HASH")).toBe(
    `Wrote "${at("a.txt")}" (9 B, utf-8). Hash HASH. Change ID.`,
  );
  expect(call.questions).toEqual([]);
  expect(await read("a.txt")).toBe("new\nmore\n");
});

it("write_file asks before a loss that cannot be undone, and keeps the file without confirmation", async () => {
  const { files, put, read } = await scratch({ journalDays: 0 });
  await put("a.txt", "old\n");
  for (const call of [fakeCall(), fakeCall({ agrees: false })]) {
    await expect(
      use(writeFile, files, { path: "a.txt", content: "new" }, call),
    ).rejects.toMatchObject({
      kind: "denied",
    });
    expect(call.questions).toHaveLength(1);
  }
  expect(await read("a.txt")).toBe("old\n");
  const agreed = await use(
    writeFile,
    files,
    { path: "a.txt", content: "new" },
    fakeCall({ agrees: true }),
  );
  expect(agreed).toContain("Cannot be undone: nothing is kept (--journal-days 0).");
  expect(await read("a.txt")).toBe("new");
});

it("copy_file asks before replacing a file if nothing is kept, and reports progress", async () => {
  const { files, put, read } = await scratch({ journalDays: 0 });
  await put("a", "a");
  await put("b", "bb");
  await expect(
    use(copyFile, files, { source: "a", destination: "b", overwrite: true }),
  ).rejects.toMatchObject({
    kind: "denied",
  });
  expect(await read("b")).toBe("bb");
  for (let index = 0; index < 250; index++) await put(`dir/${index}`, "");
  const call = fakeCall();
  await use(copyFile, files, { source: "dir", destination: "copy" }, call);
  expect(call.reported.map(({ done, total }) => [done, total])).toEqual([
    [100, 250],
    [200, 250],
    [250, 250],
  ]);
});

it("move_file asks before replacing a file if nothing is kept", async () => {
  const { files, put, read } = await scratch({ journalDays: 0 });
  await put("a", "a");
  await put("b", "bb");
  const call = fakeCall();
  const moving = use(moveFile, files, { source: "a", destination: "b", overwrite: true }, call);
  await expect(moving).rejects.toMatchObject({ kind: "denied" });
  expect(call.questions).toEqual([expect.stringContaining("permanently lost")]);
  expect(await read("b")).toBe("bb");
});

it("delete_file moves a file to the journal without asking", async () => {
  const { files, at, put, list } = await scratch();
  await put("a.txt", "abc");
  const call = fakeCall();
  const answer = String(await use(deleteFile, files, { path: "a.txt" }, call));
  expect(answer.replace(/\w{9}-\w{6}/, "ID")).toBe(
    `Deleted "${at("a.txt")}", 1 file (3 B). Change ID.`,
  );
  expect([call.questions, await list()]).toEqual([[], []]);
});

it("delete_file states the exact loss before deleting a non-empty directory", async () => {
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
