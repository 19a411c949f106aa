import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** One bundle for all who ask in this process, by source file. */
const built = new Map<string, Promise<string>>();

/**
 * The file of a worker thread or child process that a server starts: `<name>.worker.js` beside the server's bundle. Run
 * from its sources (tests), `<name>.worker.ts` beside the importer is bundled first, by esbuild, because
 * Node.js 20 reads no TypeScript.
 *
 * @param importer `import.meta.url` of the module that starts it.
 * @param external packages that stay outside of that bundle, as they do in the server's.
 * @returns the path of a file that Node.js can run.
 */
export function workerFile(
  name: string,
  importer: string,
  { external = [] }: { readonly external?: readonly string[] } = {},
): Promise<string> {
  const source = fileURLToPath(new URL(`${name}.worker.ts`, importer));
  if (!importer.endsWith(".ts"))
    return Promise.resolve(fileURLToPath(new URL(`${name}.worker.js`, importer)));
  const known = built.get(source) ?? bundled(name, source, external);
  built.set(source, known);
  return known;
}

async function bundled(name: string, source: string, external: readonly string[]): Promise<string> {
  // Not a text that bundlers see: a bundle has no use for it.
  const bundler = "esbuild";
  const { build }: typeof import("esbuild") = await import(bundler);
  // Below the package, so that what is external is found from there.
  const outfile = join(packageOf(source), "node_modules", ".refmcp", `${name}-${process.pid}.worker.mjs`);
  process.once("exit", () => rmSync(outfile, { force: true }));
  await build({
    entryPoints: [source],
    bundle: true,
    outfile,
    external: [...external],
    format: "esm",
    platform: "node",
    // Bundled CommonJS modules call require for Node's own modules.
    banner: {
      js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
    },
  });
  return outfile;
}

function packageOf(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
