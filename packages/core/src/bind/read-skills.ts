import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Skill } from "../define/server.ts";

/**
 * Reads the skills of a package: the folders in `skills/` next to its package.json.
 *
 * @param module the `import.meta.url` of one of its modules.
 */
export function readSkills(module: string): Skill[] {
  const folder = new URL("skills/", packageFolder(module));
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, files: filesOf(new URL(`${name}/`, folder)) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function filesOf(folder: URL): Skill["files"] {
  return readdirSync(fileURLToPath(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const inside = `${parentPath}/${name}`.slice(fileURLToPath(folder).length).replaceAll("\\", "/");
      const path = inside.replace(/^\//, "");
      return { path, text: readFileSync(new URL(encodeURI(path), folder), "utf8") };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The folder of the package that a module belongs to, whether the module runs from source or from a bundle.
 *
 * @param module its `import.meta.url`.
 * @throws {Error} if it is not in a package.
 */
export function packageFolder(module: string): URL {
  let folder = new URL(".", module);
  while (!existsSync(new URL("package.json", folder))) {
    const parent = new URL("..", folder);
    if (parent.href === folder.href) throw new Error(`${module} is not in a package.`);
    folder = parent;
  }
  return folder;
}
