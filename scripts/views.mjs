// Builds the views of the package in the current directory, and those of core: dist/views/NAME.html, each a
// separate page that loads nothing, for hosts with MCP Apps.
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const CORE = fileURLToPath(new URL("../packages/core", import.meta.url));
/** Larger pages are slow to show, and hosts may refuse them. */
const MAX_BYTES = 600_000;
/** Nothing is loaded or sent; only code in the page itself may run. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'";

/**
 * Builds the views of a package.
 *
 * @param {string} folder the package
 * @returns {Promise<{ pages: Map<string, string>, metafile: import("esbuild").Metafile }>} the pages by name, and what is in them
 */
export async function buildViews(folder) {
  /** @type {Map<string, string>} */
  const pages = new Map();
  /** @type {import("esbuild").Metafile} */
  const all = { inputs: {}, outputs: {} };
  for (const root of new Set([join(CORE, "views"), join(folder, "views")])) {
    if (!existsSync(root)) continue;
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const { page, metafile } = await pageOf(join(root, entry.name), entry.name);
      if (Buffer.byteLength(page) > MAX_BYTES)
        throw new Error(`The view ${entry.name} has more than ${MAX_BYTES} bytes.`);
      pages.set(entry.name, page);
      Object.assign(all.inputs, metafile.inputs);
      Object.assign(all.outputs, metafile.outputs);
    }
  }
  return { pages, metafile: all };
}

/**
 * Writes pages below a package's dist/.
 *
 * @param {string} folder the package
 * @param {ReadonlyMap<string, string>} pages
 */
export async function writeViews(folder, pages) {
  const views = join(folder, "dist", "views");
  await mkdir(views, { recursive: true });
  for (const [name, page] of pages) await writeFile(join(views, `${name}.html`), page);
}

/** @param {string} folder @param {string} name */
async function pageOf(folder, name) {
  const { outputFiles, metafile } = await build({
    metafile: true,
    entryPoints: [join(folder, "view.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    outdir: folder,
    legalComments: "none",
    logLevel: "warning",
  });
  /** @param {string} ending */
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const script = text(".js").replaceAll("</script", "<\\/script");
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>${name}</title><style>${text(".css")}</style></head><body><script>${script}</script></body></html>\n`;
  return { page, metafile };
}

if (import.meta.filename === process.argv[1])
  await writeViews(process.cwd(), (await buildViews(process.cwd())).pages);
