// `pnpm version-packages`: turns the changesets into the next version of all packages and its changelog, and writes the version into
// everything that is generated from it (server.json). From the first release on, pages name the packages on npm.
// Without changesets the version stays, which is how 0.1.0 is released.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addToChangelog, pendingChanges } from "./lib/changelog.mjs";
import { markPublished } from "./lib/published.mjs";
import { install, ROOT, run, step } from "./lib/setup.mjs";

await install();
const changes = await pendingChanges(ROOT);
const changesets = join(ROOT, "node_modules", "@changesets", "cli", "bin.js");
await step("Setting the version", () => run(process.execPath, [changesets, "version"]));
const { version } = JSON.parse(
  await readFile(join(ROOT, "packages", "core", "package.json"), "utf8"),
);
for (const name of [".claude-plugin/plugin.json", "gemini-extension.json"]) {
  const file = join(ROOT, name);
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(/"version": "[^"]*"/, `"version": "${version}"`));
}
await addToChangelog(ROOT, { version, date: new Date().toISOString().slice(0, 10), changes });
await markPublished();
await install({ frozen: false });
await step("Writing what carries it", () =>
  run(process.execPath, [join(ROOT, "scripts", "generate.mjs")], { quiet: true }),
);
