// Builds the views of the package in the current directory, and those of core: dist/views/NAME.html, each a
// separate page that loads nothing, for hosts with MCP Apps.
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const CORE = fileURLToPath(new URL("../packages/core", import.meta.url));
/** Larger pages are slow to show, and hosts may refuse them. */
const MAX_BYTES = 150_000;
/** Nothing is loaded or sent; only code in the page itself may run. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'";

/**
 * The program of each view that a package shows: its own and those of core.
 *
 * @param {string} folder the package
 * @returns {Promise<Record<string, string>>} name → file
 */
export async function viewEntryPoints(folder) {
  const found = [];
  for (const root of new Set([join(CORE, "views"), join(folder, "views")])) {
    if (!existsSync(root)) continue;
    const entries = await readdir(root, { withFileTypes: true });
    for (const entry of entries)
      if (entry.isDirectory()) found.push([entry.name, join(root, entry.name, "view.ts")]);
  }
  return Object.fromEntries(found);
}

/**
 * Writes the pages of a package's views below its dist/.
 *
 * @param {string} folder the package
 */
export async function buildViews(folder) {
  for (const [name, file] of Object.entries(await viewEntryPoints(folder))) {
    const page = await pageOf(file, name);
    if (Buffer.byteLength(page) > MAX_BYTES)
      throw new Error(`The view ${name} has more than ${MAX_BYTES} bytes.`);
    await mkdir(join(folder, "dist", "views"), { recursive: true });
    await writeFile(join(folder, "dist", "views", `${name}.html`), page);
  }
}

/** @param {string} file @param {string} name */
async function pageOf(file, name) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    outdir: dirname(file),
    legalComments: "none",
    logLevel: "warning",
  });
  /** @param {string} ending */
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const script = text(".js").replaceAll("</script", "<\\/script");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>${name}</title><style>${text(".css")}</style></head><body><script>${script}</script></body></html>\n`;
}

if (import.meta.filename === process.argv[1]) await buildViews(process.cwd());
