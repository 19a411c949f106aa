// `pnpm bench [NAME …]`, where NAME is a server or one of its benchmarks (fetch, fetch/formulas): measures in one run, as
// ratios against a floor or a peer, and prints tables. A benchmark is a module `bench/*.mjs` in `test/` or a server, with
// `title` and `bench({ report })`; `report({ title, columns, rows, notes })` prints a table. One without its material
// returns the reason.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, install, ROOT, serverNames } from "./lib/setup.mjs";

const wanted = process.argv.slice(2);
const names = ["core", ...serverNames()];
const unknown = wanted.filter((name) => !names.includes(name.split("/", 1)[0] ?? ""));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no benchmark "${unknown.join('", "')}". Choose from ${names.join(", ")}.\n`,
  );
  process.exit(1);
}
await install();
await build();

const folders = ["test", ...serverNames().map((name) => `servers/${name}`)];
for (const folder of folders) {
  const bench = join(ROOT, folder, "bench");
  if (!existsSync(bench)) continue;
  for (const file of (await readdir(bench)).filter((name) => name.endsWith(".mjs")).sort()) {
    const name = folder === "test" ? "core" : folder.slice("servers/".length);
    const isWanted = [name, `${name}/${file.replace(/\.mjs$/, "")}`].some((word) =>
      wanted.includes(word),
    );
    if (wanted.length > 0 && !isWanted) continue;
    const module = await import(pathToFileURL(join(bench, file)).href);
    process.stderr.write(`Measuring ${name}: ${module.title} …\n`);
    process.stdout.write(`\n## ${name}: ${module.title}\n`);
    const skipped = await module.bench({
      /** @type {import("./lib/bench-kit.mjs").Report} */
      report({ title, columns, rows, notes = [] }) {
        const table = [columns, columns.map((_, index) => (index === 0 ? "---" : "---:")), ...rows];
        const lines = table.map((row) => `| ${row.join(" | ")} |`);
        process.stdout.write(`\n### ${title}\n\n${[lines.join("\n"), ...notes].join("\n\n")}\n`);
      },
    });
    if (typeof skipped === "string") process.stdout.write(`\nSkipped: ${skipped}.\n`);
  }
}
