import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { ROOT, SERVERS } from "../servers.ts";
import { filesOf, importsOf, isTest } from "./layout.ts";

/** Which packages of the workspace each package may import. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  boundary: [],
  core: ["boundary"],
  documents: [],
  sql: ["boundary", "core"],
  "embedded-postgres": ["boundary"],
  testing: ["boundary", "core"],
  refmcp: ["boundary", "core", "testing"],
};
const FOR_SERVERS = ["boundary", "core", "documents", "sql", "embedded-postgres"];

const FOLDERS = [
  ...Object.keys(ARROWS).map((name) => `packages/${name}`),
  ...SERVERS.map((name) => `servers/${name}`),
];

/** The sources of all packages, without tests, from the root: `packages/core/src/index.ts`. */
const SOURCES = FOLDERS.flatMap((folder) =>
  filesOf(join(ROOT, folder, "src"))
    .filter((file) => file.endsWith(".ts") && !isTest(file))
    .map((file) => `${folder}/src/${file}`),
);
const textOf = (file: string) => readFileSync(join(ROOT, file), "utf8");

it.each(FOLDERS)("%s imports only the packages that it may", (folder) => {
  const allowed = ARROWS[posix.basename(folder)] ?? FOR_SERVERS;
  const wrong = SOURCES.filter((file) => file.startsWith(`${folder}/`)).flatMap((file) =>
    importsOf(textOf(file))
      .map(
        (from) =>
          /^@refmcp\/([\w-]+)/.exec(from)?.[1] ??
          /^(?:\.\.\/)+(?:packages|servers)\/([\w-]+)/.exec(from)?.[1],
      )
      .filter((name) => name !== undefined && !allowed.includes(name))
      .map((name) => `${file} imports ${name}`),
  );
  expect(wrong, "Packages import only those below them: CONTRIBUTING.md has the table").toEqual([]);
});

it.each(FOLDERS)("%s exports by name", (folder) => {
  const { exports = {} } = JSON.parse(textOf(`${folder}/package.json`));
  const patterns = Object.keys(exports).filter((path) => path.includes("*"));
  expect(patterns, "Export what another package needs by name").toEqual([]);
});

it("CONTRIBUTING.md shows each package with its description and what it may import", () => {
  const page = textOf("CONTRIBUTING.md");
  for (const [name, below] of Object.entries(ARROWS)) {
    const { description } = JSON.parse(textOf(`packages/${name}/package.json`));
    const arrows = below.length === 0 ? "nothing" : below.join(", ");
    expect(page).toContain(`| \`packages/${name}\` | ${description} | ${arrows} |`);
  }
});
