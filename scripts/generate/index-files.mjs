// The index of a folder: the list of its definitions, one file each, sorted by name. Tools may be in subfolders, one for each toolset.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";

const FOLDERS = ["tools", "resources", "prompts"];
const LINE_WIDTH = 110;

/**
 * Writes `src/{tools,resources,prompts}/index.ts` of a server.
 *
 * @param {string} server its folder
 * @param {(file: string, text: string) => Promise<void>} put
 */
export async function indexFolders(server, put) {
  for (const kind of FOLDERS) {
    const folder = join(server, "src", kind);
    if (!existsSync(folder)) continue;
    const files = (await readdir(folder, { recursive: true }))
      .map((file) => file.replaceAll("\\", "/"))
      .filter((file) => /^([a-z]+\/)?[a-z0-9-]+\.ts$/.test(file) && file !== "index.ts")
      .map((file) => file.slice(0, -".ts".length))
      .sort();
    await put(join(folder, "index.ts"), indexText(kind, files));
  }
}

/** @param {string} kind @param {string[]} files */
function indexText(kind, files) {
  /** @param {string} file */
  const nameOf = (file) =>
    basename(file).replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  const imports = files.map((file) => `import ${nameOf(file)} from "./${file}.ts";`);
  // By name, not by folder.
  const names = files.toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1)).map(nameOf);
  const oneLine = `export const ${kind} = [${names.join(", ")}];`;
  const list =
    oneLine.length <= LINE_WIDTH
      ? oneLine
      : `export const ${kind} = [\n${names.map((name) => `  ${name},\n`).join("")}];`;
  return `// Written by \`pnpm generate\`.\n${imports.join("\n")}\n\n${list}\n`;
}
