import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const READMES = fileURLToPath(new URL("../../../node_modules/.pnpm", import.meta.url));

/** README files of installed packages: text in no particular format. */
export function readmes(limit: number): string[] {
  const found: string[] = [];
  for (const name of readdirSync(READMES)) {
    const packages = join(READMES, name, "node_modules");
    const folder = name.replace(/^@[^+]*\+/u, "").replace(/@.*$/u, "");
    try {
      found.push(readFileSync(join(packages, folder, "README.md"), "utf8"));
    } catch {
      // A package in a scope, or without a README.
    }
    if (found.length === limit) break;
  }
  return found;
}
