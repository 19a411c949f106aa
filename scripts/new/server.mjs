// Makes a server from scripts/templates/server, a whole server by the name of "sample".
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { indexRooms } from "../generate/rooms.mjs";
import { install, ROOT } from "../lib/setup.mjs";
import { bundle, format, generate, test, typecheck } from "./gate.mjs";
import { checkServerName, SERVERS, titleOf } from "./names.mjs";

const TEMPLATE = join(ROOT, "scripts", "templates", "server");

/**
 * Makes `servers/<name>` and a changeset, installs, and runs the server's tests.
 *
 * @param {string} name
 * @throws {import("./names.mjs").NameError} for a name that cannot be used; nothing is written then.
 */
export async function newServer(name) {
  checkServerName(name);
  await install();
  const folder = join(SERVERS, name);
  await writeRooms(name, folder);
  await mkdir(join(ROOT, ".changeset"), { recursive: true });
  const changeset = `---\n"@refmcp/server-${name}": minor\n---\n\nNew server: ${name}.\n`;
  await writeFile(join(ROOT, ".changeset", `new-server-${name}.md`), changeset);
  await install({ frozen: false });
  await format(folder);
  await bundle(folder);
  await typecheck(folder);
  await test(folder);
  await generate();
  process.stderr.write(
    [
      `\nservers/${name} is there, with the tool ${name}_find and its tests, all green.`,
      `  the domain      servers/${name}/src/notes       rename it and make it yours`,
      `  a tool          pnpm new tool ${name} ${name}_NAME`,
      `  its tests       cd servers/${name} && npx vitest run`,
      `  what to change  docs/add-a-server.md\n`,
    ].join("\n"),
  );
}

/** Writes all rooms at once: a folder that is there is whole. */
async function writeRooms(name, folder) {
  const { version } = JSON.parse(await readFile(join(ROOT, "packages", "core", "package.json"), "utf8"));
  const draft = join(SERVERS, `.${name}.new`);
  try {
    for (const entry of await readdir(TEMPLATE, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const source = join(entry.parentPath, entry.name);
      const target = join(draft, relative(TEMPLATE, source).replaceAll("sample", name));
      const text = (await readFile(source, "utf8"))
        .replaceAll("sample", name)
        .replaceAll("Sample", titleOf(name));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, entry.name === "package.json" ? withVersion(text, version) : text);
    }
    await indexRooms(draft, (file, text) => writeFile(file, text));
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** All packages have one version. */
function withVersion(manifest, version) {
  return manifest.replace(/"version": "[^"]*"/, () => `"version": "${version}"`);
}
