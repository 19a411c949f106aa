// One server as an MCP bundle: what npm would install, the manifest, and nothing else.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ROOT } from "../lib/setup.mjs";
import { pack, unpack } from "./pack.mjs";

const execute = promisify(execFile);
const fromTests = createRequire(join(ROOT, "test", "package.json"));

/**
 * Makes the bundle of a server that is built.
 *
 * A server with dependencies (native or huge ones) gets them installed for this machine, so that its bundle is for
 * this platform only, and says so.
 *
 * @param {string} name
 * @param {string} destination the folder for the bundle
 * @param {{ dependencies?: boolean }} [options] `dependencies: false` leaves them out: for a look at the rest, since
 *   native ones may have to be compiled
 * @returns {Promise<string>} the bundle's path
 */
export async function makeBundle(name, destination, options = {}) {
  const scratch = await mkdtemp(join(tmpdir(), "refmcp-bundle-"));
  try {
    const folder = await unpack(await pack(`servers/${name}`, scratch), scratch);
    const manifest = JSON.parse(await readFile(join(ROOT, "servers", name, "manifest.json"), "utf8"));
    // npm looks up development dependencies even where it installs none.
    const { devDependencies, ...published } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    await writeFile(join(folder, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
    const { dependencies = {}, version } = published;
    let suffix = "";
    if (Object.keys(dependencies).length > 0 && options.dependencies !== false) {
      await execute("npm", ["install", "--omit=optional", "--no-package-lock", "--no-audit", "--no-fund"], {
        cwd: folder,
        shell: process.platform === "win32",
      });
      manifest.compatibility.platforms = [process.platform];
      suffix = `-${process.platform}-${process.arch}`;
    }
    await writeFile(join(folder, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
    const output = join(destination, `refmcp-${name}-${version}${suffix}.mcpb`);
    await mkdir(dirname(output), { recursive: true });
    const { packExtension } = await officialPacker();
    if (!(await packExtension({ extensionPath: folder, outputPath: output, silent: true })))
      throw new Error(`The official packer refused ${name}; run npx mcpb validate on its manifest.json.`);
    return output;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** `@anthropic-ai/mcpb`, a dependency of the tests. */
export async function officialPacker() {
  return import(pathToFileURL(fromTests.resolve("@anthropic-ai/mcpb")).href);
}
