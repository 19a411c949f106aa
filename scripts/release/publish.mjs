// Publishes every package whose version is not on npm yet; CI runs it on a tag `v1.2.3`. With `--dry-run` nothing
// leaves this machine. With `--by-hand` a person publishes, once, before npm can trust CI (see CONTRIBUTING.md): npm asks
// for the second factor, and there is no provenance. Usage: node scripts/release/publish.mjs TAG [--dry-run | --by-hand]
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageFolders, ROOT } from "../lib/setup.mjs";
import { pack } from "./pack.mjs";

const execute = promisify(execFile);
const [tag, ...flags] = process.argv.slice(2);
const dryRun = flags.includes("--dry-run");
const byHand = flags.includes("--by-hand");

/** The packages to publish, core first: the servers carry it inside, authors outside need it. */
async function published() {
  const found = [];
  for (const folder of await packageFolders()) {
    const manifest = JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8"));
    if (manifest.private !== true) found.push({ folder, name: manifest.name, version: manifest.version });
  }
  return found;
}

async function isPublished({ name, version }) {
  return execute("npm", ["view", `${name}@${version}`, "version"]).then(
    ({ stdout }) => stdout.trim() === version,
    ({ stderr }) => {
      if (/E404/.test(stderr)) return false;
      throw new Error(`npm cannot tell whether ${name}@${version} is published: ${stderr}`);
    },
  );
}

/** Runs `npm publish`; by hand in this terminal, where npm can ask. */
async function publish(tarball) {
  const args = ["publish", tarball, "--access", "public"];
  if (dryRun) return execute("npm", [...args, "--dry-run"]);
  if (!byHand) return execute("npm", [...args, "--provenance"]);
  const [code] = await once(spawn("npm", args, { stdio: "inherit" }), "close");
  if (code !== 0) throw new Error(`npm publish ${tarball} failed with exit code ${code}.`);
}

const packages = await published();
const wrong = packages.filter(({ version }) => tag !== `v${version}`);
if (wrong.length > 0) {
  const list = wrong.map(({ name, version }) => `${name} ${version}`).join(", ");
  process.stderr.write(`The tag ${tag} is not the version of: ${list}.\n`);
  process.exit(1);
}
const scratch = await mkdtemp(join(tmpdir(), "refmcp-publish-"));
try {
  for (const one of packages) {
    if (!dryRun && (await isPublished(one))) {
      process.stdout.write(`${one.name} ${one.version}: published already\n`);
      continue;
    }
    const tarball = await pack(one.folder, scratch);
    await publish(tarball);
    process.stdout.write(`${one.name} ${one.version}: ${dryRun ? "would be published" : "published"}\n`);
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
