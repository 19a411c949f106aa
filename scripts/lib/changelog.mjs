// CHANGELOG.md, from the changesets. All packages have one version, so they have one changelog.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The pending changesets as a section without heading: changes by package, the largest first.
 *
 * @param {string} root the workspace
 */
export async function pendingChanges(root) {
  const folder = join(root, ".changeset");
  /** @type {Map<string, { weight: number, line: string }[]>} */
  const changes = new Map();
  for (const file of (await readdir(folder)).sort()) {
    if (!file.endsWith(".md") || file === "README.md") continue;
    const [, head, text = ""] =
      /^---\n([\s\S]*?)---\n([\s\S]*)$/.exec(await readFile(join(folder, file), "utf8")) ?? [];
    if (head === undefined)
      throw new Error(`.changeset/${file} is not a changeset: it does not begin with ---.`);
    const sizes = [...head.matchAll(/"(.+?)": (\w+)/g)];
    const names = sizes.map(([, name = ""]) => name.replace(/^@refmcp\/(server-)?/, "")).join(", ");
    const weight = Math.min(
      ...sizes.map(([, , size = ""]) => ["major", "minor", "patch"].indexOf(size)),
    );
    const line = `- ${["**Breaking:** ", "", ""][weight]}${text.trim().replaceAll(/\s*\n\s*/g, " ")}`;
    changes.set(names, [...(changes.get(names) ?? []), { weight, line }]);
  }
  return [...changes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([names, all]) => {
      const lines = all.sort((a, b) => a.weight - b.weight).map(({ line }) => line);
      return `### ${names}\n\n${lines.join("\n")}`;
    })
    .join("\n\n");
}

/**
 * Puts a version on top of the changelog, and dates the section of an unreleased one, which was published by hand.
 *
 * @param {string} root the workspace
 * @param {{ version: string, date: string, changes: string }} entry date: YYYY-MM-DD; without changes, there is no new section
 */
export async function addToChangelog(root, { version, date, changes }) {
  const file = join(root, "CHANGELOG.md");
  const text = await readFile(file, "utf8");
  const dated = text.replace(/^(## \S+) \(unreleased\)$/m, `$1 (${date})`);
  const [head = "", ...sections] = dated.split(/^(?=## )/m);
  if (changes !== "") sections.unshift(`## ${version} (${date})\n\n${changes}\n`);
  await writeFile(
    file,
    [head.trimEnd().concat("\n"), ...sections].join("\n").replaceAll("\n\n\n", "\n\n"),
  );
}
