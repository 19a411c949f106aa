import { existsSync } from "node:fs";

/**
 * The folder of the package that a module belongs to, whether it runs from its sources or from its bundle.
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
