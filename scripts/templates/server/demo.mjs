import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "finds lines in notes.";

/** @param {any} harness see scripts/lib/demo.mjs */
export async function demo({ folder, say, connect }) {
  await writeFile(join(folder, "meeting.md"), "# Meeting\n\nAda brings the tea.\n");
  await writeFile(join(folder, "ideas.md"), "# Ideas\n\nTea for everybody.\n");

  say("Two notes. A word is found in both, in upper or lower case.");
  const session = await connect("sample", { era: "modern", args: [folder] });
  await session.call("sample_find", { query: "tea" }, { lines: [{ text: /tea/i }, { text: /tea/i }] });

  say("A note that does not exist.");
  await session.call("sample_find", { query: "tea", path: "meting.md" }, { fails: /meting\.md/ });
  await session.close();
}
