import { execFileSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOf } from "../../../test/session.ts";
import { applyEdits, diffOf, editOf } from "./patch.ts";

describe("a patch", () => {
  it.each(["\n", "", "\n\nconst b = 2;\n\n\n\n\n\nawait page.getByText('x').click();"])(
    "can be applied by git: end %j",
    async (end) => {
      const folder = await folderOf("apply");
      const file = join(folder, "a.spec.js");
      await writeFile(file, source.trimEnd() + end);
      const call = { file, line: 2, column: 12, method: "getByRole", texts: ["button"] };
      const other = { file, line: 9, column: 12, method: "getByText", texts: ["x"] };
      const edits = [
        await editOf(folder, call, call, 'getByText("a\'b")'),
        await editOf(folder, other, other, 'getByText("y")'),
      ];
      const found = edits.filter((one) => one !== undefined);
      expect(found).toHaveLength(end.length > 1 ? 2 : 1);
      const patch = await diffOf(folder, found);
      await (await applyEdits(folder, found))();
      expect(await readFile(file, "utf8"), "restored").toBe(source.trimEnd() + end);
      await applyEdits(folder, found);
      const applied = await readFile(file, "utf8");
      await writeFile(file, source.trimEnd() + end);
      await writeFile(join(folder, "it.patch"), patch);
      execFileSync("git", ["apply", "it.patch"], { cwd: folder });
      expect(await readFile(file, "utf8")).toBe(applied);
      expect(applied).toContain(`page.getByText("a'b").click();`);
    },
  );

  it("leaves a call with a variable alone, since other tests may use it", async () => {
    const folder = await folderOf("variable");
    const file = join(folder, "a.js");
    await writeFile(file, "for (const name of names) await page.getByText(name).click();\n");
    const site = { file, line: 1, column: 38, method: "getByText", texts: ["Save"] };
    expect(await editOf(folder, site, site, 'getByText("Store")')).toBeUndefined();
  });

  const source = "const a = 1;\nawait page.getByRole('button', { name: /a \\)/ }).click();\n";

  it("replaces one call, in the quotes of the file", async () => {
    const folder = await folderOf("patch");
    const file = join(folder, "a.spec.js");
    await writeFile(file, source);
    const site = { file, line: 2, column: 12, method: "getByRole", texts: ["button"] };
    const edit = await editOf(folder, site, site, 'getByRole("button", { name: "Go on" })');
    if (edit === undefined) throw new Error("no edit");
    expect(await diffOf(folder, [edit])).toBe(
      "--- a/a.spec.js\n+++ b/a.spec.js\n@@ -1,2 +1,2 @@\n const a = 1;\n" +
        "-await page.getByRole('button', { name: /a \\)/ }).click();\n" +
        "+await page.getByRole('button', { name: 'Go on' }).click();\n",
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
      const site = { file, line: 2, column: 12, method: "getByRole", texts: ["button"] };
      expect(await editOf(inside, site, site, "getByText('x')")).toBeUndefined();
      const edit = { file, start: 0, end: 5, text: "let", source };
      await expect(applyEdits(inside, [edit])).rejects.toMatchObject({ kind: "denied" });
      expect(await readFile(file, "utf8")).toBe(source);
    }
    const link = join(inside, "link.js");
    const site = { file: link, line: 2, column: 12, method: "getByRole", texts: ["button"] };
    expect(await editOf(inside, site, site, "getByText('x')"), "through a symlink").toBeUndefined();
  });
});
