// Imports TypeScript modules of the workspace, which Node.js 20 cannot read.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT } from "./setup.mjs";

const READ_SQL = /readFileSync\(new URL\("([^"]+\.sql)", import\.meta\.url\), "utf8"\)/g;

/**
 * Puts SQL files into a bundle: the call that reads one in the sources becomes its text.
 *
 * @type {import("esbuild").Plugin}
 */
export const sqlText = {
  name: "sql-text",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const names = [...source.matchAll(READ_SQL)].map(([, name = ""]) => name);
      if (names.length === 0) return undefined;
      const files = names.map((name) => join(dirname(path), name));
      const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
      const contents = source.replace(READ_SQL, () => JSON.stringify(texts.shift()));
      return { contents, loader: "ts", watchFiles: files };
    });
  },
};

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
