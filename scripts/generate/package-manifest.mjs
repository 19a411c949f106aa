// The part that every server's package.json has in common: where its sources are. npm's provenance requires it to be correct.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * A server's package.json with its `repository`, everything else unchanged.
 *
 * @param {{ name: string, folder: string }} server
 */
export async function packageManifest({ name, folder }) {
  const text = await readFile(join(folder, "package.json"), "utf8");
  const repository = {
    type: "git",
    url: "git+https://github.com/refmcp/refmcp.git",
    directory: `servers/${name}`,
  };
  const field = `  "repository": ${JSON.stringify(repository, undefined, 2).replaceAll("\n", "\n  ")}`;
  const present = / {2}"repository": (\{[^}]*\}|"[^"]*")/;
  if (present.test(text)) return text.replace(present, () => field);
  return text.replace(/^ {2}"scripts": \{/m, (scripts) => `${field},\n${scripts}`);
}
