import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import listChanges from "./list-changes.ts";

it("lists changes newest first with sizes, in pages", async () => {
  const { files, at } = await scratch();
  for (const name of ["a", "b", "c"]) {
    await files.write({ path: at(name), content: name, mode: "overwrite", create_parents: false });
  }
  const first = String(await use(listChanges, files, { limit: 2 }));
  const [c, b, facts] = first.split("\n");
  expect(c).toMatch(new RegExp(`^\\w{9}-\\w{6} \\d{4}-.*Z create ${at("c")} \\(nothing → 1 B\\)$`));
  expect(b).toContain(at("b"));
  expect(facts).toMatch(/^\[2 changes\. Continue with cursor="[\w-]+"\.\]$/);
  const cursor = /cursor="([\w-]+)"/.exec(first)?.[1];
  const second = String(await use(listChanges, files, { limit: 2, cursor }));
  expect(second).toMatch(new RegExp(`create ${at("a")} .*\\n\\[1 change\\.\\]$`));
});
