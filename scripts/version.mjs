// `pnpm version-packages`: turns the changesets into the next version of all packages, and writes it into everything
// that is generated from it (server.json, manifest.json). From the first release on, pages name the packages on npm.
import { join } from "node:path";
import { markPublished } from "./lib/published.mjs";
import { install, ROOT, run, step } from "./lib/setup.mjs";

await install();
const changesets = join(ROOT, "node_modules", "@changesets", "cli", "bin.js");
await step("Setting the version", () => run(process.execPath, [changesets, "version"]));
await markPublished();
await install({ frozen: false });
await step("Writing what carries it", () =>
  run(process.execPath, [join(ROOT, "scripts", "generate.mjs")], { quiet: true }),
);
