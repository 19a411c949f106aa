// How hosts start a server (`refmcp --print-config HOST` prints the same).
import { importSource } from "../lib/sources.mjs";

/** @import { Server, State } from "./surface.mjs" */
/** @typedef {import("../../packages/refmcp/src/hosts/host.ts").Host} Host */
/** @typedef {import("../../packages/refmcp/src/hosts/entry.ts").ServerLaunch} ServerLaunch */
/** @typedef {{ id: string, host: Host, format: string, text: string, command: string | undefined }} ShownEntry */
/** @typedef {Server["options"][number]} Option */
/** @typedef {Record<string, (option: Option) => string>} Placeholders by type of option; `project` for a directory */

const PROJECT = "/path/to/your/project";
/** A placeholder for the user's own value in a shown entry. @type {Placeholders} */
const SHOWN = {
  project: () => PROJECT,
  directory: () => "/path/to/your/folder",
  file: () => "/path/to/your/file",
};
/** The variable that VS Code and Cursor replace with the open folder. */
const openFolder = () => "$" + "{workspaceFolder}";
/** An entry that is installed with one click cannot be edited first. @type {Placeholders} */
const IN_VSCODE = {
  project: openFolder,
  directory: openFolder,
  file: (option) => `\${input:${inputName(option)}}`,
};

/**
 * The arguments of an entry: those of `refmcp.exampleArguments` in package.json, else the options that the server asks for.
 * Directories are included only if nothing else is: a server with a database uses them for imports and exports.
 *
 * @param {Pick<Server, "manifest" | "options">} server
 */
function exampleArguments({ manifest, options }, values = SHOWN) {
  const example = manifest.refmcp?.exampleArguments;
  if (example !== undefined) return example;
  const asked = options.filter(({ ask }) => ask);
  const own = ownOptions({ options });
  if (own.length === 0) return asked.slice(0, 1).map((option) => values.project?.(option) ?? "");
  return own.flatMap((option) => {
    const value = values[option.type]?.(option);
    return value === undefined ? [] : [`--${option.flag}=${value}`];
  });
}

/** @param {Pick<Server, "options">} server */
const ownOptions = ({ options }) =>
  options.filter(({ ask, positional, type }) => ask && !(positional && type === "directory"));

/** Whether the server needs a directory as its argument. @param {Server} server */
export function needsDirectory(server) {
  return exampleArguments(server).some((argument) => !argument.startsWith("-"));
}

/** What VS Code asks the user for an option. @param {Option} option */
const questionOf = ({ form, description }) => (form ? `${form.title}: ${form.help}` : description);

/** REFMCP_SQLITE_DB_PATH → refmcp-sqlite-db-path @param {Option} option */
const inputName = ({ variables: [name = ""] }) => name.toLowerCase().replaceAll("_", "-");

/** @param {Pick<Server, "options">} server */
const secretOptions = ({ options }) => options.filter(({ ask, type }) => ask && type === "secret");

/**
 * What an entry for a server starts: the package, or, if it is not published, a clone.
 *
 * @param {{ name: string, packageName: string }} server
 * @param {string} bin what node runs in a clone, from its root
 * @param {string[]} args
 * @param {State} state
 */
function startOf({ packageName }, bin, args, { published }) {
  return published
    ? { command: "npx", args: ["-y", packageName, ...args] }
    : { command: "/path/to/node", args: [`/path/to/refmcp/${bin}`, ...args] };
}

/** @param {Server} server @param {State} state @param {Placeholders} [values] @returns {ServerLaunch} */
export function launchOf(server, state, values) {
  const env = secretOptions(server).map(({ variables: [name = ""] }) => ({ name, secret: true }));
  const args = exampleArguments(server, values);
  return { name: server.name, start: startOf(server, binOf(server), args, state), env };
}

/** The same for the package that has all servers. @param {State} state @returns {ServerLaunch} */
export function allServers(state) {
  const refmcp = { name: "refmcp", packageName: "refmcp" };
  return {
    name: "refmcp",
    start: startOf(refmcp, "packages/refmcp/dist/bin.js", [PROJECT], state),
  };
}

/** What node runs in a clone, from its root. @param {Pick<Server, "name">} server */
const binOf = ({ name }) => `servers/${name}/dist/bin.js`;

/**
 * A command that prints the server's entry for a host.
 *
 * @type {(server: Server, host: string, state: State, more?: string[]) => string}
 */
export function printCommand(server, host, { published }, more = []) {
  const start = published ? ["npx", "-y", "refmcp"] : ["node", "packages/refmcp/dist/bin.js"];
  return [...start, server.name, ...exampleArguments(server), ...more, "--print-config", host].join(
    " ",
  );
}

/** What the READMEs' examples start: the filesystem server, or if there is none, the first. @param {Server[]} servers */
export function exampleOf(servers) {
  const example = servers.find(({ name }) => name === "filesystem") ?? servers[0];
  if (example === undefined) throw new Error("There is no server.");
  return example;
}

/**
 * The entry for each host that has a name, in their order. That of a host that reports the open project has no directory.
 *
 * @param {ServerLaunch} launch
 * @returns {Promise<[ShownEntry, ...ShownEntry[]]>}
 */
export async function hostEntries(launch) {
  const { HOSTS } = await importSource("packages/refmcp/src/hosts/hosts.ts");
  const entries = await importSource("packages/refmcp/src/hosts/entry.ts");
  const { name, env } = launch;
  const hosts = Object.entries(HOSTS).filter(([id]) => id !== "json");
  const entriesOfHosts = hosts.map(([id, /** @type {Host} */ host]) => {
    const isShown = (/** @type {string} */ word) =>
      word !== PROJECT || host.does?.includes("roots") !== true;
    const start = { ...launch.start, args: launch.start.args.filter(isShown) };
    const text = entries.fileText(host, name, entries.entryOf(host, { name, env, start }));
    const command = entries.shellCommand(host, { name, env, start });
    return { id, host, format: host.format ?? "json", text, command };
  });
  return /** @type {[ShownEntry, ...ShownEntry[]]} */ (entriesOfHosts);
}

/**
 * The links that install a published server in VS Code and Cursor with one click, in the open folder. Only VS Code asks
 * for a file and for secrets.
 *
 * @param {Server} server
 * @param {State} state
 * @returns {Promise<Record<string, string>>}
 */
export async function installLinks(server, state) {
  if (!state.published) return {};
  const files = ownOptions(server).filter(({ type }) => type === "file");
  const secrets = secretOptions(server);
  const inputs = [...files, ...secrets].map((option) => ({
    type: "promptString",
    id: inputName(option),
    description: questionOf(option),
    ...(option.type === "secret" && { password: true }),
  }));
  const { start } = launchOf(server, state, IN_VSCODE);
  /** @param {(option: Option) => string} reference */
  const entryWith = (reference) => {
    const env = Object.fromEntries(
      secrets.map((option) => [option.variables[0], reference(option)]),
    );
    return JSON.stringify({ ...start, ...(secrets.length > 0 && { env }) });
  };
  const asked = inputs.length === 0 ? "" : `&inputs=${queryValue(JSON.stringify(inputs))}`;
  const inVscode = queryValue(entryWith((option) => `\${input:${inputName(option)}}`));
  const inCursor = entryWith(({ variables: [name = ""] }) => `\${env:${name}}`);
  const base64 = queryValue(Buffer.from(inCursor).toString("base64"));
  return {
    vscode: `https://insiders.vscode.dev/redirect/mcp/install?name=${server.name}${asked}&config=${inVscode}`,
    ...(files.length === 0 && {
      cursor: `https://cursor.com/en/install-mcp?name=${server.name}&config=${base64}`,
    }),
  };
}

/** Encodes a value for a link, including parentheses, which would end a link in Markdown. @param {string} text */
const queryValue = (text) => encodeURIComponent(text).replaceAll("(", "%28").replaceAll(")", "%29");
