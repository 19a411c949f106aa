import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import moveFile from "./move-file.ts";

it("asks before replacing a file if nothing is kept", async () => {
  const { files, put, read } = await scratch({ journalDays: 0 });
  await put("a", "a");
  await put("b", "bb");
  const call = fakeCall();
  const moving = use(moveFile, files, { source: "a", destination: "b", overwrite: true }, call);
  await expect(moving).rejects.toMatchObject({ kind: "denied" });
  expect(call.questions).toEqual([expect.stringContaining("permanently lost")]);
  expect(await read("b")).toBe("bb");
});
