import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import copyFile from "./copy-file.ts";

it("asks before replacing a file if nothing is kept, and reports progress", async () => {
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
