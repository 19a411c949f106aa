import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listAllowedDirectories from "./list-allowed-directories.ts";

it("lists the directories, their origin and whether they are writable", async () => {
  const { files, root } = await scratch({ writable: false });
  expect(await use(listAllowedDirectories, files, {})).toBe(
    `Allowed directories:\n${root} (argument, read-only)`,
  );
});
