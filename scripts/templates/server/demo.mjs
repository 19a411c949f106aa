import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "finds notes by their words.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, say, connect }) {
  await writeFile(join(folder, "meeting.md"), "Ada brings the tea.\n");
  await writeFile(join(folder, "ideas.md"), "Tea for everybody.\n");
  const session = await connect("sample", { era: "modern", args: [folder] });

  say("Two notes. A word is found in both, in upper or lower case.");
  await session.call(
    "sample_find",
    { query: "tea" },
    { notes: [{ text: /tea/i }, { text: /tea/i }] },
  );

  say("A path outside the folder is refused.");
  await session.call(
    "sample_find",
    { query: "tea", path: "../secret.md" },
    { fails: /secret\.md/ },
  );
  await session.close();
}
