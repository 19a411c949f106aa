// How hosts start a server, (`refmcp --print-config HOST` prints the same).
import { importSource } from "../lib/sources.mjs";

/** @import { Server, State } from "./surface.mjs" */
/** @typedef {import("../../packages/refmcp/src/hosts/host-entry.ts").HostEntry} HostEntry */
/** @typedef {Server["options"][number]} Option */
/** @typedef {Record<string, (option: Option) => string>} Placeholders by type of option; `project` for a directory */

/** A placeholder for the user's own value in a shown entry. @type {Placeholders} */
const SHOWN = {
  project: () => "/path/to/your/project",
  directory: () => "/path/to/your/folder",
  file: () => "/path/to/your/file",
};
/** The variable that VS Code and Cursor replace with the open folder. */
export const openFolder = () => "$" + "{workspaceFolder}";
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
  const given = manifest.refmcp?.exampleArguments;
  if (given !== undefined) return given;
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

/**
 * What core needs to know to make a host's entry.
 *
 * @param {Server} server
 * @param {State} state not published: the entry starts a clone
 */
export function launchOf(server, { published }) {
  const secrets = server.options.filter(({ ask, type }) => ask && type === "secret");
  return {
    serverKey: server.name,
    packageName: server.packageName,
    args: exampleArguments(server),
    env: secrets.map((option) => ({
      name: option.variables[0] ?? "",
      secret: true,
      description: questionOf(option),
    })),
    ...(!published && {
      command: { command: "/path/to/node", args: [`/path/to/refmcp/${binOf(server)}`] },
    }),
  };
}

/**
 * The same for the package that has all servers.
 *
 * @param {State} state
 * @param {string} [directory]
 */
export function allServers({ published }, directory = "/path/to/your/project") {
  return {
    serverKey: "refmcp",
    packageName: "refmcp",
    args: [directory],
    ...(!published && {
      command: { command: "/path/to/node", args: ["/path/to/refmcp/packages/refmcp/dist/bin.js"] },
    }),
  };
}

/** What node runs in a clone, from its root. @param {Server} server */
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

/** The entry of a server for each host that has a name, in their order. @type {(server: Server, state: State) => Promise<[HostEntry, ...HostEntry[]]>} */
export async function hostEntries(server, state) {
  const { hostEntry } = await importSource("packages/refmcp/src/hosts/host-entry.ts");
  const { HOST_NAMES } = await importSource("packages/refmcp/src/hosts/host-names.ts");
  return HOST_NAMES.filter((/** @type {HostEntry["host"]} */ host) => host !== "json").map(
    (/** @type {HostEntry["host"]} */ host) => hostEntry(host, launchOf(server, state)),
  );
}

/**
 * Host entries in groups that have the same text, in the order of their first.
 *
 * @type {(entries: HostEntry[]) => [HostEntry, ...HostEntry[]][]}
 */
export function withSameText(entries) {
  const texts = new Set(entries.map(({ text }) => text));
  return [...texts].flatMap((same) => {
    const [first, ...others] = entries.filter(({ text }) => text === same);
    return first === undefined ? [] : [[first, ...others]];
  });
}

/**
 * The links that install a published server with one click, by host. Only VS Code asks for a file, and only it and Cursor
 * know the open folder, so the others have none for a server that needs one.
 *
 * @param {Server} server
 * @param {State} state
 * @returns {Promise<Record<string, string | undefined>>}
 */
export async function installLinks(server, { published }) {
  if (!published) return {};
  const { installLink } = await importSource("packages/refmcp/src/hosts/host-entry.ts");
  const files = ownOptions(server).filter(({ type }) => type === "file");
  const inputs = files.map((option) => ({
    id: inputName(option),
    description: questionOf(option),
  }));
  const launch = { ...launchOf(server, { published }), args: exampleArguments(server, IN_VSCODE) };
  return {
    vscode: installLink("vscode", { ...launch, inputs }),
    ...(files.length === 0 && { cursor: installLink("cursor", launch) }),
    ...(launch.args.length === 0 && {
      goose: installLink("goose", launch),
      "lm-studio": installLink("lm-studio", launch),
    }),
  };
}
