import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOf } from "../../../test/session.ts";
import { applyEdits, diffOf, editOf } from "./patch.ts";

describe("a patch", () => {
  const source = "const a = 1;\nawait page.getByRole('button', { name: /a \\)/ }).click();\n";

  it("replaces one call, in the quotes of the file", async () => {
    const folder = await folderOf("patch");
    const file = join(folder, "a.spec.js");
    await writeFile(file, source);
    const site = { file, line: 2, column: 12, method: "getByRole" };
    const edit = await editOf(folder, site, site, 'getByRole("button", { name: "Go on" })');
    if (edit === undefined) throw new Error("no edit");
    expect(diffOf(folder, [edit])).toBe(
      "--- a/a.spec.js\n+++ b/a.spec.js\n@@ -1,3 +1,3 @@\n const a = 1;\n" +
        "-await page.getByRole('button', { name: /a \\)/ }).click();\n" +
        "+await page.getByRole('button', { name: 'Go on' }).click();\n \n",
    );
    await writeFile(file, `${source}// changed\n`);
    await expect(applyEdits(folder, [edit])).rejects.toMatchObject({ kind: "conflict" });
    expect(await readFile(file, "utf8")).toBe(`${source}// changed\n`);
  });

  it("changes no file outside the project, and none of its dependencies", async () => {
    const folder = await folderOf("outside");
    const inside = join(folder, "project");
    await mkdir(join(inside, "node_modules", "x"), { recursive: true });
    await symlink(join(folder, "shared.js"), join(inside, "link.js"));
    for (const file of [join(folder, "shared.js"), join(inside, "node_modules", "x", "index.js")]) {
      await writeFile(file, source);
      const site = { file, line: 2, column: 12, method: "getByRole" };
      expect(await editOf(inside, site, site, "getByText('x')")).toBeUndefined();
      const edit = { file, start: 0, end: 5, text: "let", source };
      await expect(applyEdits(inside, [edit])).rejects.toMatchObject({ kind: "denied" });
      expect(await readFile(file, "utf8")).toBe(source);
    }
    const link = join(inside, "link.js");
    const site = { file: link, line: 2, column: 12, method: "getByRole" };
    expect(await editOf(inside, site, site, "getByText('x')"), "through a symlink").toBeUndefined();
  });
});
