// `pnpm bench [NAME …]`, where NAME is a server or one of its benchmarks (fetch, fetch/formulas): measures in one run, as
// ratios against a floor or a peer, prints tables and writes
// docs/benchmarks.md. A benchmark is a module `bench/*.mjs` in `test/` or a server, with `title` and
// `bench({ report })`; `report({ title, columns, rows, notes })` adds a table. One without its material returns the reason,
// and keeps its section.
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
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
/** @type {{ name: string, text: string }[]} */
const sections = [];
const page = join(ROOT, "docs", "benchmarks.md");
const earlier = sectionsOf(await readFile(page, "utf8").catch(() => ""));
for (const folder of folders) {
  const bench = join(ROOT, folder, "bench");
  if (!existsSync(bench)) continue;
  for (const file of (await readdir(bench)).filter((name) => name.endsWith(".mjs")).sort()) {
    const name = folder === "test" ? "core" : folder.slice("servers/".length);
    const isWanted = [name, `${name}/${file.replace(/\.mjs$/, "")}`].some((one) =>
      wanted.includes(one),
    );
    if (wanted.length > 0 && !isWanted) continue;
    const module = await import(pathToFileURL(join(bench, file)).href);
    process.stderr.write(`Measuring ${name}: ${module.title} …\n`);
    let text = `## ${name}: ${module.title}\n`;
    const skipped = await module.bench({
      /** @type {import("./lib/bench-kit.mjs").Report} */
      report({ title, columns, rows, notes = [] }) {
        const table = [columns, columns.map((_, index) => (index === 0 ? "---" : "---:")), ...rows];
        text += `\n### ${title}\n\n${table.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`;
        for (const note of notes) text += `\n${note}\n`;
      },
    });
    if (typeof skipped === "string") {
      process.stderr.write(`Skipped: ${skipped}.\n`);
      const last = earlier.find((section) => section.name === `${name}/${file}`);
      if (last !== undefined) sections.push(last);
      continue;
    }
    process.stdout.write(`\n${text}\n`);
    sections.push({ name: `${name}/${file}`, text });
  }
}

// Running only some benchmarks keeps the other sections of the page.
/** @param {string} name */
const mark = (name) => `<!-- ${name} -->`;
const kept = wanted.length === 0 ? [] : earlier;
for (const section of sections) {
  const index = kept.findIndex(({ name }) => name === section.name);
  if (index === -1) kept.push(section);
  else kept[index] = section;
}
const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node.js ${process.version}, ${process.platform}`;
const intro = `# Benchmarks

Written by \`pnpm bench\`. Every table comes from one run in which all columns were measured in turn; times are medians in
milliseconds. The machine is shared and noisy, so read the ratios. Last run: ${new Date().toISOString().slice(0, 10)}, ${machine}.
`;
await writeFile(
  page,
  `${intro}\n${kept.map(({ name, text }) => `${mark(name)}\n\n${text.trimEnd()}\n`).join("\n")}`,
);

/** @param {string} text */
function sectionsOf(text) {
  return text
    .split(/^<!-- (?=\S+\.mjs -->)/m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf(" -->");
      return { name: part.slice(0, end), text: part.slice(end + 4).trim() };
    });
}
