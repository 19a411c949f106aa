// docs/errors.md: every error code, from the tables that the packages export (`errorsOf` of @refmcp/boundary/answer).
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { importSource } from "../lib/sources.mjs";

/** The whole page: a section for each table. */
export async function errorsPage() {
  /** @type {string[]} */
  const sections = [];
  for (const file of tableFiles()) {
    /** @type {{ table?: unknown }[]} */
    const values = Object.values(await importSource(file));
    const tables = values.map((value) => value?.table).filter(isTable);
    if (tables.length === 0)
      throw new Error(`${file}: export what errorsOf returns, for docs/errors.md.`);
    const rows = tables
      .flatMap((table) => Object.entries(table))
      .map(([code, [kind = "", hint = ""]]) => [`\`${code}\``, kind, hint]);
    /** @param {string[]} row */
    const cells = (row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
    const table = [["Code", "Kind", "Hint"], ["---", "---", "---"], ...rows].map(cells).join("");
    sections.push(`## [${file}](../${file})\n\n${table}`);
  }
  return `# Error codes

Written by \`pnpm generate\` from the tables in the packages, in the file that each heading names. An error of a tool has a kind,
and many have a code; both are in the answer, under \`_meta["io.github.refmcp/error"]\`. The message says what was wrong with the
value. The hint is the one here unless something more exact is known. The operating system's codes begin with \`e\`.

${sections.join("\n")}`;
}

/** The sources that call \`errorsOf\`, in the order of the page. */
function tableFiles() {
  return ["packages", "servers"].flatMap((group) =>
    readdirSync(join(ROOT, group))
      .sort()
      .flatMap((name) => {
        const source = join(ROOT, group, name, "src");
        if (!existsSync(source)) return [];
        return readdirSync(source, { recursive: true, encoding: "utf8" })
          .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
          .filter((file) => /\berrorsOf\(/.test(readFileSync(join(source, file), "utf8")))
          .map((file) => `${group}/${name}/src/${file.replaceAll("\\", "/")}`)
          .sort();
      }),
  );
}

/** @type {(value: unknown) => value is Record<string, string[]>} */
function isTable(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((row) => Array.isArray(row) && typeof row[0] === "string")
  );
}
