import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import changes from "./changes.ts";

it("shows the changes and notifies about new ones", async () => {
  const { files, at } = await scratch();
  let told = 0;
  const count = () => {
    told += 1;
  };
  const stop = await changes.watch?.(files, count, fakeCall());
  await files.write({ path: at("a"), content: "a", mode: "create", create_parents: false });
  expect(told).toBe(1);
  await stop?.();
  await files.write({ path: at("b"), content: "b", mode: "create", create_parents: false });
  expect(told).toBe(1);
  const body = await changes.read(files, fakeCall());
  expect(JSON.parse(String(body))).toMatchObject({
    changes: [
      { action: "create", path: at("b"), undoable: true },
      { action: "create", path: at("a"), undoable: true },
    ],
  });
});
