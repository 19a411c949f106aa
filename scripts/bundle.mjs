// Bundles the server in the current directory into dist/: `bin.js` (which npx starts), `server.js` (the server),
// `definition.js` and `options.js` (for `refmcp`, which serves several servers in one process), one `*.worker.js` for each worker,
// and the parts that they share or load on first use; core and every pure-JavaScript dependency are inside. Next to dist/, THIRD_PARTY_NOTICES has their licenses and sbom.cdx.json lists them
// (CycloneDX).
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cyclonedxEsbuildPlugin } from "@cyclonedx/cyclonedx-esbuild";
import { build } from "esbuild";
import { indexFolders } from "./generate/index-files.mjs";
import { sqlText } from "./lib/sources.mjs";
import { fasterLinkedom } from "./linkedom.mjs";
import { bundledPackages, notices } from "./notices.mjs";
import { buildViews, writeViews } from "./views.mjs";

/** @type {import("./generate/surface.mjs").Manifest} */
const manifest = JSON.parse(await readFile("package.json", "utf8"));
// Native and huge packages stay dependencies; npm installs them next to the bundle.
const external = [
  ...Object.keys(manifest.dependencies ?? {}),
  ...Object.keys(manifest.optionalDependencies ?? {}),
  ...Object.keys(manifest.peerDependencies ?? {}),
];

// So that adding, renaming or removing a tool needs no other step.
await indexFolders(process.cwd(), async (file, text) => {
  if ((await readFile(file, "utf8").catch(() => "")) !== text) await writeFile(file, text);
});
const sources = await readdir("src", { recursive: true });
const workers = sources.filter((file) => file.endsWith(".worker.ts")).map((file) => `src/${file}`);

/**
 * Precomputes what the process shows before its first call: `src/bin.ts` (in `refmcp`, `src/serve.ts`) gets an outline of the server, which loads
 * `src/server.ts` on the first call that needs it, so that a start reads no tool and no schema.
 *
 * @type {import("esbuild").Plugin}
 */
const lazily = {
  name: "lazily",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/server\.ts$/ }, ({ importer, resolveDir }) =>
      ["bin.ts", "serve.ts"].includes(basename(importer))
        ? { path: "src/server.ts", namespace: "lazily", pluginData: resolveDir }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: "lazily" }, async ({ pluginData }) => ({
      resolveDir: pluginData,
      contents: `
        import { lazyServer } from "@refmcp/core/run";
        import { options } from "./options.ts";
        const outline = JSON.parse(${JSON.stringify(JSON.stringify(await outline()))});
        export const server = lazyServer(outline, options, async () => (await import("./server.ts")).server);
      `,
    }));
  },
};

/**
 * What the package `refmcp` lists for this server without starting it; undefined for a package that is not a server.
 *
 * @type {{ outline: object, options: object } | undefined}
 */
let catalog;

/** The outline of this folder's server, made by its own code. */
async function outline() {
  // Where what is external is found, and git sees nothing if this process is killed.
  const file = join(process.cwd(), "node_modules", ".refmcp", `outline-${process.pid}.mjs`);
  await build({
    ...shared,
    plugins: [sqlText],
    legalComments: "none",
    stdin: {
      contents:
        'export { outlineOf } from "@refmcp/core/run"; export { server } from "./src/server.ts";',
      resolveDir: process.cwd(),
    },
    outfile: file,
  });
  try {
    const { outlineOf, server } = await import(pathToFileURL(file).href);
    catalog = { outline: await outlineOf(server), options: server.options };
    return catalog.outline;
  } finally {
    await rm(file);
  }
}

/** The tables of iconv-lite in this bundle. @type {Set<string>} */
const tables = new Set();

/**
 * Keeps the tables of iconv-lite as files in dist/, which its `require` reads on first use: inside the bundle, even a
 * server that reads only UTF-8 parses their 400 kB with its first call.
 *
 * @type {import("esbuild").Plugin}
 */
const tableFiles = {
  name: "table-files",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/tables\/.*\.json$/ }, ({ path, resolveDir }) => {
      tables.add(join(resolveDir, path));
      return { path: `./${basename(path)}`, external: true };
    });
  },
};

/** @type {import("esbuild").BuildOptions} */
const shared = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  minify: true,
  // They go to THIRD_PARTY_NOTICES.
  legalComments: "external",
  external,
  alias: {
    // Its CommonJS form loads its parts with a require that esbuild cannot follow.
    "jsonc-parser": fileURLToPath(
      new URL("../packages/refmcp/node_modules/jsonc-parser/lib/esm/main.js", import.meta.url),
    ),
    // The folder of its entry point has a manifest with an invalid name, which the SBOM would list as another package.
    "read-excel-file/universal": fileURLToPath(
      new URL(
        "../packages/documents/node_modules/read-excel-file/modules/export/readXlsxFileUniversal.js",
        import.meta.url,
      ),
    ),
  },
  plugins: [lazily, sqlText, fasterLinkedom],
  // Bundled CommonJS modules call require for Node's own modules.
  banner: {
    js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
  },
  logLevel: "warning",
};

const views = await buildViews(process.cwd());
/**
 * Adds the packages of the views to those of the bundle, so that the SBOM and the notices list them.
 *
 * @type {import("esbuild").Plugin}
 */
const withViews = {
  name: "with-views",
  setup({ onEnd }) {
    onEnd(({ metafile }) => {
      Object.assign(metafile?.inputs ?? {}, views.metafile.inputs);
      Object.assign(metafile?.outputs ?? {}, views.metafile.outputs);
    });
  },
};

const { outputFiles, metafile } = await build({
  ...shared,
  plugins: [
    lazily,
    sqlText,
    fasterLinkedom,
    tableFiles,
    withViews,
    cyclonedxEsbuildPlugin({
      outputFile: "../sbom.cdx.json",
      outputReproducible: true,
      logLevel: "silent",
    }),
  ],
  write: false,
  metafile: true,
  entryPoints: {
    server: "src/bin.ts",
    ...(sources.includes("server.ts")
      ? { definition: "src/server.ts", options: "src/options.ts" }
      : {}),
    ...Object.fromEntries(workers.map((worker) => [basename(worker, ".ts"), worker])),
  },
  outdir: "dist",
  // What is imported on first use becomes a separate file, which startup does not even parse.
  splitting: true,
  chunkNames: "part-[hash]",
});
const comments = outputFiles
  .filter(({ path }) => path.endsWith(".LEGAL.txt"))
  .map(({ text }) => text);
const owner = `${manifest.name} ${manifest.version}`;
const packages = bundledPackages(Object.keys(metafile.inputs));
const thirdParty = await notices(owner, packages, comments);
// Only now, so that sources that do not build leave the last bundle unchanged.
await rm("dist", { recursive: true, force: true });
await mkdir("dist");
for (const { path, contents } of outputFiles)
  if (path.endsWith(".js")) await writeFile(path, contents);
for (const table of tables) await copyFile(table, join("dist", basename(table)));
if (catalog !== undefined) await writeFile("dist/catalog.json", JSON.stringify(catalog));
await writeViews(process.cwd(), views.pages);
await writeFile("THIRD_PARTY_NOTICES", thirdParty);

const entryPoint = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write("${manifest.name} needs Node.js 20.19 or newer; this is " + process.version + ".\\n");
  process.exit(1);
}
process.title = ${JSON.stringify(Object.keys(manifest.bin)[0])};
// Node.js 22 and newer keep compiled code between starts.
(await import("node:module")).default.enableCompileCache?.();
await import("./server.js");
`;
await writeFile("dist/bin.js", entryPoint, { mode: 0o755 });
