// How hosts start a server, from `@refmcp/launch` (`--print-config` prints the same).
import { importSource } from "../lib/sources.mjs";

/** A placeholder for the user's own value in a shown entry. */
const SHOWN = {
  project: () => "/path/to/your/project",
  directory: () => "/path/to/your/folder",
  file: () => "/path/to/your/file",
};
/** The variable that VS Code and Cursor replace with the open folder. */
const openFolder = () => "$" + "{workspaceFolder}";
/** An entry that is installed with one click cannot be edited first. */
const IN_VSCODE = {
  project: openFolder,
  directory: openFolder,
  file: (option) => `\${input:${inputName(option)}}`,
};

/**
 * The arguments of an entry: those of `refmcp.exampleArguments` in package.json, else the options that the server asks for.
 * Directories are included only if nothing else is: a server with a database uses them for imports and exports.
 */
function exampleArguments({ manifest, options }, values = SHOWN) {
  const given = manifest.refmcp?.exampleArguments;
  if (given !== undefined) return given;
  const asked = options.filter(({ ask }) => ask);
  const own = ownOptions({ options });
  if (own.length === 0) return asked.length === 0 ? [] : [values.project()];
  return own
    .filter(({ type }) => SHOWN[type] !== undefined)
    .map((option) => `--${option.flag}=${values[option.type](option)}`);
}

const ownOptions = ({ options }) =>
  options.filter(({ ask, positional, type }) => ask && !(positional && type === "directory"));

/** Whether the server needs a directory as its argument. */
export function needsDirectory(server) {
  return exampleArguments(server).some((argument) => !argument.startsWith("-"));
}

/** REFMCP_SQLITE_DB_PATH → refmcp-sqlite-db-path */
const inputName = ({ variables: [name] }) => name.toLowerCase().replaceAll("_", "-");

/**
 * What core needs to know to make a host's entry.
 *
 * @param {{ published: boolean }} state not published: the entry starts a clone
 */
export function launchOf(server, { published }) {
  const secrets = server.options.filter(({ ask, type }) => ask && type === "secret");
  return {
    serverKey: server.name,
    packageName: server.packageName,
    args: exampleArguments(server),
    env: secrets.map(({ variables: [name], description }) => ({ name, secret: true, description })),
    ...(!published && {
      command: { command: "/path/to/node", args: [`/path/to/refmcp/${binOf(server)}`] },
    }),
  };
}

/** What node runs in a clone, from its root. */
const binOf = ({ name }) => `servers/${name}/dist/bin.js`;

/** A command that prints the server's entry for a host. */
export function printCommand(server, host, { published }, more = []) {
  const start = published ? ["npx", "-y", server.packageName] : ["node", binOf(server)];
  return [...start, ...exampleArguments(server), ...more, "--print-config", host].join(" ");
}

/** The names that `--print-config` takes. */
export async function hostNames() {
  return (await importSource("packages/core/src/define/common-options.ts")).HOST_NAMES;
}

/** The entry of a server for each host, in their order. */
export async function hostEntries(server, state) {
  const { hostEntry } = await importSource("packages/launch/src/host-entry.ts");
  return (await hostNames()).map((host) => hostEntry(host, launchOf(server, state)));
}

/** Host entries in groups that have the same text, in the order of their first. */
export function withSameText(entries) {
  const texts = new Set(entries.map(({ text }) => text));
  return [...texts].map((same) => entries.filter(({ text }) => text === same));
}

/**
 * The links that install a published server with one click. Cursor asks for nothing, so there is none for a server that
 * needs a file.
 *
 * @returns {Promise<{ vscode?: string, cursor?: string }>}
 */
export async function installLinks(server, { published }) {
  if (!published) return {};
  const { cursorLink, vscodeLink } = await importSource("packages/launch/src/host-entry.ts");
  const files = ownOptions(server).filter(({ type }) => type === "file");
  const inputs = files.map((option) => ({ id: inputName(option), description: option.description }));
  const launch = { ...launchOf(server, { published }), args: exampleArguments(server, IN_VSCODE) };
  return {
    vscode: vscodeLink({ ...launch, inputs }),
    ...(files.length === 0 && { cursor: cursorLink(launch) }),
  };
}
