import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

/** One bundle for all who ask in this process, by source file. */
const built = new Map<string, string>();

/**
 * In tests, this is `@refmcp/core/worker-file`: it bundles `<name>.worker.ts` next to the importer, because Node.js 20
 * does not read TypeScript.
 */
export function workerFile(name: string, importer: string): string {
  const source = fileURLToPath(new URL(`${name}.worker.ts`, importer));
  const bundle = built.get(source);
  if (bundle !== undefined) return bundle;
  const folder = packageOf(source);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  // In the package, so that what is external is found from there.
  const outfile = join(folder, "node_modules", ".refmcp", `${name}-${process.pid}.worker.mjs`);
  process.once("exit", () => rmSync(outfile, { force: true }));
  buildSync({
    entryPoints: [source],
    bundle: true,
    outfile,
    external: Object.keys(dependencies),
    format: "esm",
    platform: "node",
    // Bundled CommonJS modules call require for Node's own modules.
    banner: {
      js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
    },
  });
  built.set(source, outfile);
  return outfile;
}

function packageOf(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
