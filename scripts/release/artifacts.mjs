// Creates everything that a release publishes in one folder, from a built workspace: the packages as tarballs,
// the MCP bundles, the SBOMs, the entries for the MCP Registry, and the script that publishes. CI builds and tests in one job and
// publishes this folder from another that runs nothing else. Usage: node scripts/release/artifacts.mjs TAG FOLDER
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { packageFolders, ROOT, serverNames } from "../lib/setup.mjs";
import { makeBundle } from "./bundle.mjs";
import { packAll } from "./pack.mjs";

const [tag = "", target = ""] = process.argv.slice(2);
if (target === "") fail("Usage: node scripts/release/artifacts.mjs TAG FOLDER");
const folder = resolve(target);

const published = [];
for (const place of await packageFolders()) {
  const manifest = JSON.parse(await readFile(join(ROOT, place, "package.json"), "utf8"));
  if (manifest.private !== true) published.push({ place, ...manifest });
}
const wrong = published.filter(({ version }) => tag !== `v${version}`);
if (wrong.length > 0)
  fail(
    `The tag ${tag} is not the version of: ${wrong.map(({ name, version }) => `${name} ${version}`).join(", ")}.`,
  );

await rm(folder, { recursive: true, force: true });
for (const part of ["packages", "assets", "registry"])
  await mkdir(join(folder, part), { recursive: true });
await copyFile(new URL("publish.mjs", import.meta.url), join(folder, "publish.mjs"));
await packAll(
  published.map(({ place }) => place),
  join(folder, "packages"),
);
for (const name of serverNames()) {
  await makeBundle(name, join(folder, "assets"));
  const source = join(ROOT, "servers", name);
  await copyFile(
    join(source, "sbom.cdx.json"),
    join(folder, "assets", `refmcp-${name}-${tag.slice(1)}.cdx.json`),
  );
  await mkdir(join(folder, "registry", name));
  await copyFile(join(source, "server.json"), join(folder, "registry", name, "server.json"));
}
process.stdout.write(
  `${folder}: ${published.length} packages, ${serverNames().length} bundles and SBOMs\n`,
);

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
