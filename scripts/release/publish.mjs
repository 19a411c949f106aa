// Publishes the tarballs of a folder that artifacts.mjs made, unless their version is already on npm. It needs nothing but
// npm, so that the job that may publish runs no other code. With `--dry-run` nothing leaves this machine. With `--by-hand` a
// person publishes, once, before npm can trust CI (see CONTRIBUTING.md): npm asks for the second factor, and there is no
// provenance. Usage: node publish.mjs FOLDER [--dry-run | --by-hand]
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: node publish.mjs FOLDER [--dry-run | --by-hand]");
const dryRun = flags.includes("--dry-run");
const byHand = flags.includes("--by-hand");

/** @param {{ name: string, version: string }} manifest */
async function isPublished({ name, version }) {
  return execute("npm", ["view", `${name}@${version}`, "version"]).then(
    ({ stdout }) => stdout.trim() === version,
    ({ stderr }) => {
      if (/E404/.test(stderr)) return false;
      throw new Error(`npm could not report whether ${name}@${version} is published: ${stderr}`);
    },
  );
}

/** Runs `npm publish`; by hand in this terminal, where npm can ask. @param {string} tarball */
async function publish(tarball) {
  const args = ["publish", tarball, "--access", "public"];
  if (dryRun || !byHand)
    return void (await execute("npm", [...args, dryRun ? "--dry-run" : "--provenance"]));
  const [code] = await once(spawn("npm", args, { stdio: "inherit" }), "close");
  if (code !== 0) throw new Error(`npm publish ${tarball} failed with exit code ${code}.`);
}

const packages = resolve(folder, "packages");
// Sorted by name, so a package comes after those that it needs; refmcp itself needs all servers.
const isLast = (/** @type {string} */ file) => /^refmcp-\d/.test(file);
const files = (await readdir(packages)).sort();
for (const file of files.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))) {
  const tarball = join(packages, file);
  const { stdout } = await execute("tar", ["-xOzf", tarball, "package/package.json"]);
  const manifest = JSON.parse(stdout);
  const title = `${manifest.name} ${manifest.version}`;
  if (!dryRun && (await isPublished(manifest))) {
    process.stdout.write(`${title}: already published\n`);
    continue;
  }
  await publish(tarball);
  process.stdout.write(`${title}: ${dryRun ? "would be published" : "published"}\n`);
}
