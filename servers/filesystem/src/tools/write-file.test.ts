import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import writeFile from "./write-file.ts";

it("writes and reports the change and how to undo it", async () => {
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

it("asks before a loss that cannot be undone, and keeps the file without confirmation", async () => {
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
