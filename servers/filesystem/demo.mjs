import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "searches, reads and edits files in one folder, and nothing outside it.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, root, say, check, connect }) {
  const project = join(folder, "project");
  await mkdir(join(project, "docs"), { recursive: true });
  for (const file of ["README.md", "package.json", "turbo.json", "LICENSE"])
    await copyFile(join(root, file), join(project, file));
  const license = await readFile(join(root, "LICENSE"), "utf8");

  say("A host that speaks 2025-11-25. The folder holds copies of some of this clone's files.");
  const today = await connect("filesystem", { era: "legacy", args: [project] });
  await today.call("directory_tree", { path: "." }, /docs\/\n\s+package\.json\n\s+turbo\.json/);
  await today.call(
    "search_text",
    { path: ".", pattern: '^ +"name": ' },
    /^package\.json\n2:.*refmcp.*\n\[1 line in 1 file\. Paths are relative to .*\]$/,
  );
  await today.call(
    "read_text_file",
    { path: "package.json", head: 8 },
    '"name": "refmcp-workspace"',
  );
  await today.close();

  say("A host that speaks 2026-07-28. An edit is previewed, made and undone.");
  const next = await connect("filesystem", { era: "modern", args: [project] });
  const edits = [{ oldText: "MIT License", newText: "MIT License (the short one)" }];
  const copy = () => readFile(join(project, "LICENSE"), "utf8");
  const diff = /-MIT License\n\+MIT License \(the short one\)/;
  await next.call("edit_file", { path: "LICENSE", edits, dryRun: true }, diff);
  check("the preview leaves the file unchanged", (await copy()) === license);
  await next.call("edit_file", { path: "LICENSE", edits }, diff);
  check("the edit changes the file", (await copy()).startsWith("MIT License (the short one)"));
  const { content } = await next.call("list_changes", { limit: 1 }, / edit /);
  const [id] = content[0].text.split(" ");
  await next.call("undo_change", { id }, /^Undid/);
  check("undo restores the file", (await copy()) === license);

  say("Files outside the folder are refused, no matter what the model tries.");
  const secret = join(folder, "secret.txt");
  await writeFile(secret, "a secret");
  await next.call(
    "read_text_file",
    { path: secret },
    { fails: /secret\.txt" .*outside|outside.*allowed/ },
  );
  await next.call("read_text_file", { path: "../secret.txt" }, { fails: /outside/ });
  await next.close();
}
