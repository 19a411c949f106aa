// Imports TypeScript modules of the workspace, which Node.js 20 cannot read.
import { join } from "node:path";
import { ROOT } from "./setup.mjs";
import { sqlText } from "./sql-text.mjs";

/**
 * Bundles a module in memory and imports it.
 *
 * @param {string} file from the root, for example `packages/refmcp/src/hosts/hosts.ts`
 */
export async function importSource(file) {
  // Here, because a fresh clone has it only after the installation.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, file)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    plugins: [sqlText],
  });
  const text = Buffer.from(outputFiles[0]?.contents ?? []).toString("base64");
  return import(`data:text/javascript;base64,${text}`);
}
