import { fakeCall } from "@refmcp/core/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import writeFile from "./write-file.ts";

it("writes and answers what changed and how to undo it", async () => {
  const { files, at, put, read } = await scratch();
  await put("a.txt", "old\n");
  const call = fakeCall();
  const answer = writeFile.output?.parse(
    await use(writeFile, files, { path: "a.txt", content: "new\nmore\n" }, call),
  );
  expect(answer).toEqual({
    path: at("a.txt"),
    created: false,
    size: 9,
    lines_added: 2,
    lines_removed: 1,
    hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    encoding: "utf-8",
    change_id: expect.any(String),
  });
  expect(call.questions).toEqual([]);
  expect(await read("a.txt")).toBe("new\nmore\n");
});

it("asks before a loss that nothing can take back, and keeps the file where nobody agrees", async () => {
  const { files, put, read } = await scratch({ journal: false });
  await put("a.txt", "old\n");
  for (const call of [fakeCall(), fakeCall({ agrees: false })]) {
    await expect(use(writeFile, files, { path: "a.txt", content: "new" }, call)).rejects.toMatchObject({
      kind: "denied",
    });
    expect(call.questions).toHaveLength(1);
  }
  expect(await read("a.txt")).toBe("old\n");
  const agreed = await use(writeFile, files, { path: "a.txt", content: "new" }, fakeCall({ agrees: true }));
  expect(agreed).toMatchObject({ not_undoable: "the journal is off (--no-journal)" });
  expect(await read("a.txt")).toBe("new");
});

it("takes a hash of 16 to 64 hexadecimal digits only", () => {
  expect(writeFile.input.safeParse({ path: "a", content: "", expected_hash: "latest" }).success).toBe(false);
});
