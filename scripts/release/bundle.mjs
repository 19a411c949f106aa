// One server as an MCP bundle: what npm would install, the manifest and an icon, for all platforms.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { bundleManifest } from "../generate/bundle-manifest.mjs";
import { describedServer } from "../generate/surface.mjs";
import { ROOT } from "../lib/setup.mjs";
import { LICENSE_FILE, notices } from "../notices.mjs";

const execute = promisify(execFile);
/** In pixels, as Claude Desktop recommends. */
const ICON_SIZE = 512;
await initWasm(
  await readFile(createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm")),
);
const fromTests = createRequire(join(ROOT, "test", "package.json"));
/** The official program. Called as a function, it would always print to stdout. */
const PACKER = join(dirname(fromTests.resolve("@anthropic-ai/mcpb")), "cli", "cli.js");

/**
 * Native dependencies: the package with prebuilt binaries for all platforms, which of its files run, and where. Its binaries
 * need Node-API 10 and crash older versions of Node.js (its `engines` is >=22).
 *
 * @type {Record<string, { from: string, files: string[], node: string }>}
 */
const PREBUILT = {
  "better-sqlite3": {
    from: join(ROOT, "node_modules", "better-sqlite3-prebuilt"),
    files: ["lib", "prebuilds", "package.json"],
    node: "^22.14.0 || >=23.6.0",
  },
};

/**
 * The versions of Node.js that a server's bundle runs on.
 *
 * @param {{ engines: { node: string }, dependencies?: Record<string, string> }} manifest the server's package.json
 */
function runtimeOf({ engines, dependencies = {} }) {
  const native = Object.keys(dependencies).find((name) => name in PREBUILT);
  return PREBUILT[native ?? ""]?.node ?? engines.node;
}

/**
 * Creates the bundle of a built server. Its dependencies come from this workspace, in the locked versions.
 *
 * @param {string} name
 * @param {string} destination the folder for the bundle
 * @returns {Promise<string>} the bundle's path
 */
export async function makeBundle(name, destination) {
  const source = join(ROOT, "servers", name);
  const { devDependencies, scripts, ...published } = await readJson(join(source, "package.json"));
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bundle-"));
  try {
    for (const file of [...published.files, "README.md"])
      await cp(join(source, file), join(folder, file), { recursive: true });
    const server = await describedServer(name);
    await writeJson(join(folder, "manifest.json"), bundleManifest(server, runtimeOf(published)));
    await writeFile(join(folder, "icon.png"), icon(server.icon));
    await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
    /** @type {Map<string, string>} */
    const packages = new Map();
    await collect(source, published, packages);
    /** @type {Record<string, string>} */
    const versions = {};
    for (const [dependency, from] of packages) {
      await copyPackage(
        from,
        join(folder, "node_modules", dependency),
        PREBUILT[dependency]?.files,
      );
      versions[dependency] = (await readJson(join(from, "package.json"))).version;
    }
    const manifest = { ...published, dependencies: versions };
    await writeJson(join(folder, "package.json"), manifest);
    if (packages.size > 0)
      await appendFile(
        join(folder, "THIRD_PARTY_NOTICES"),
        `\n${await notices("The folder node_modules", [...packages.values()])}`,
      );
    const output = join(destination, `refmcp-${name}-${published.version}.mcpb`);
    await mkdir(dirname(output), { recursive: true });
    await execute(process.execPath, [PACKER, "pack", folder, output]);
    return output;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Adds the folders of all packages that a package needs at run time, by name.
 *
 * @type {(folder: string, manifest: { dependencies?: Record<string, string> }, found: Map<string, string>) => Promise<void>}
 */
async function collect(folder, { dependencies = {} }, packages) {
  for (const name of Object.keys(dependencies)) {
    const place = PREBUILT[name]?.from ?? lookUp(name, folder);
    const from = await realpath(place);
    const earlier = packages.get(name);
    if (earlier === from) continue;
    const manifest = await readJson(join(from, "package.json"));
    if (earlier !== undefined) throw new Error(`The bundle would need two versions of ${name}.`);
    if (manifest.os !== undefined || manifest.cpu !== undefined)
      throw new Error(`${name} is for some platforms only, and a bundle is for all of them.`);
    packages.set(name, from);
    // Further dependencies of a native package are only for compiling it.
    if (PREBUILT[name] === undefined) await collect(from, manifest, packages);
  }
}

/**
 * A package as Node.js finds it from a folder. Its package.json may not be exported, so require cannot resolve it.
 *
 * @type {(name: string, folder: string) => string}
 */
function lookUp(name, folder) {
  const place = join(folder, "node_modules", name);
  if (existsSync(place)) return place;
  if (dirname(folder) === folder) throw new Error(`${name} is not installed.`);
  return lookUp(name, dirname(folder));
}

/**
 * Copies the files of a package that run, and its licenses; `only` names them, if not all are needed.
 *
 * @type {(from: string, to: string, only: string[] | undefined) => Promise<void>}
 */
async function copyPackage(from, to, only) {
  for (const file of await readdir(from)) {
    const isLicense = LICENSE_FILE.test(file);
    if (!isLicense && (only === undefined ? file === "node_modules" : !only.includes(file)))
      continue;
    await cp(join(from, file), join(to, file), {
      recursive: true,
      filter: (path) =>
        isLicense || !/\.(d\.[cm]?ts|map)$|^(readme|changelog)\b/i.test(basename(path)),
    });
  }
}

/** @param {string} file @param {unknown} value */
async function writeJson(file, value) {
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** @param {string} file */
async function readJson(file) {
  return JSON.parse(await readFile(file, "utf8"));
}

/**
 * Draws the icon of a server, which hosts show in their list of extensions: a white glyph on the server's color.
 *
 * @param {string} svg
 * @returns {Uint8Array} a PNG
 */
function icon(svg) {
  return new Resvg(svg, { fitTo: { mode: "width", value: ICON_SIZE } }).render().asPng();
}
