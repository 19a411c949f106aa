// Bundles the workspace's package that starts a PostgreSQL, since Node.js 20 can't load TypeScript.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { ROOT } from "../../../../scripts/lib/setup.mjs";

/** @returns {Promise<typeof import("../../../../packages/embedded-postgres/test/start.ts")>} */
export async function testPostgres() {
  const folder = join(ROOT, "packages", "embedded-postgres");
  const built = join(folder, "node_modules", ".refmcp");
  await mkdir(built, { recursive: true });
  await build({
    entryPoints: [join(folder, "test", "start.ts")],
    outfile: join(built, "index.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["pg", "@embedded-postgres/*"],
    logLevel: "warning",
  });
  return await import(pathToFileURL(join(built, "index.mjs")).href);
}
