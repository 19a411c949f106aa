import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "finds lines in notes.";

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, say, connect }) {
  await writeFile(join(folder, "meeting.md"), "# Meeting\n\nAda brings the tea.\n");
  await writeFile(join(folder, "ideas.md"), "# Ideas\n\nTea for everybody.\n");

  say("Two notes. A word is found in both, however it is written.");
  const session = await connect("sample", { era: "modern", args: [folder] });
  await session.call("sample_find", { query: "tea" });

  say("A note that is not there.");
  await session.call("sample_find", { query: "tea", path: "meting.md" });
  await session.close();
}
