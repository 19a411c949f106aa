// `pnpm size`: prints how many lines of code each part has, and writes docs/size.md.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { measure, sizePage } from "./generate/size-page.mjs";
import { ROOT } from "./lib/setup.mjs";

const file = join(ROOT, "docs", "size.md");
const sizes = await measure();
for (const [name, { files, lines, characters }] of [
  ...Object.entries(sizes.parts),
  ...Object.entries(sizes.kinds),
])
  process.stdout.write(
    `${name.padEnd(20)}${[files, lines, characters].map((count) => String(count).padStart(12)).join("")}\n`,
  );
const { page, problems } = sizePage(sizes, await readFile(file, "utf8").catch(() => ""));
await writeFile(file, page);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
