// How hosts start a server, in core's own words (`--print-config` prints the same).
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../lib/setup.mjs";

/** Core as it was built; the generator builds first. */
const built = (file) => import(pathToFileURL(join(ROOT, "packages", "core", "dist", "serve", file)).href);

/** What stands in an entry for a value of the user's own. */
const SAMPLES = { directory: "/path/to/your/folder", file: "/path/to/your/file" };

/**
 * The arguments of an entry that somebody can paste and edit: those of `refmcp.exampleArguments` in package.json, else the
 * options that the server asks for. Directories are one of them only where nothing else is: beside a database they are
 * for imports and exports.
 */
export function exampleArguments({ manifest, options }) {
  const given = manifest.refmcp?.exampleArguments;
  if (given !== undefined) return given;
  const asked = options.filter(({ ask }) => ask);
  const own = asked.filter(({ positional, type }) => !(positional && type === "directory"));
  if (own.length === 0) return asked.length === 0 ? [] : ["/path/to/your/project"];
  return own
    .filter(({ type }) => SAMPLES[type] !== undefined)
    .map(({ flag, type }) => `--${flag}=${SAMPLES[type]}`);
}

/** Whether the server does nothing without a directory as its argument. */
export function needsDirectory(server) {
  return exampleArguments(server).some((argument) => !argument.startsWith("-"));
}

/** What core needs to know to make a host's entry. */
export function launchOf(server) {
  const secrets = server.options.filter(({ ask, type }) => ask && type === "secret");
  return {
    serverKey: server.name,
    packageName: server.packageName,
    args: exampleArguments(server),
    env: secrets.map(({ variables: [name], description }) => ({ name, secret: true, description })),
  };
}

/** The entry of a server for each of the eight hosts, in their order. */
export async function hostEntries(server) {
  const { hostEntry } = await built("host-entry.js");
  const { HOST_NAMES } = await built("hosts.js");
  return HOST_NAMES.map((host) => hostEntry(host, launchOf(server)));
}

/** The links that install a server with one click. */
export async function installLinks(server) {
  const { cursorLink, vscodeLink } = await built("host-entry.js");
  return { vscode: vscodeLink(launchOf(server)), cursor: cursorLink(launchOf(server)) };
}
