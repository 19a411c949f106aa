import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";

export const title = "finds, reads and edits files below one folder, and nothing outside of it.";

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, root, say, connect }) {
  const project = join(folder, "project");
  await mkdir(join(project, "docs"), { recursive: true });
  for (const file of ["README.md", "package.json", "turbo.json", "LICENSE"])
    await copyFile(join(root, file), join(project, file));

  say("A host of today opens with initialize. The folder holds copies of this clone's own files.");
  const today = await connect("filesystem", { era: "legacy", args: [project] });
  await today.call("directory_tree", { path: "." });
  await today.call("search_text", { path: ".", pattern: "npm (start|test)" });
  await today.call("read_text_file", { path: "package.json", head: 8 });
  await today.close();

  say("A host of 2026-07-28 just calls. An edit is previewed, made, and taken back.");
  const next = await connect("filesystem", { era: "modern", args: [project] });
  const edits = [{ oldText: "MIT License", newText: "MIT License (the short one)" }];
  await next.call("edit_file", { path: "LICENSE", edits, dryRun: true });
  await next.call("edit_file", { path: "LICENSE", edits });
  const { structuredContent } = await next.call("list_changes", { limit: 1 });
  await next.call("undo_change", { id: structuredContent.changes[0].id });

  say("What lies outside does not exist for it, whatever the model tries.");
  await next.call("read_text_file", { path: join(project, "..", "..", "secret.txt") });
  await next.close();
}
