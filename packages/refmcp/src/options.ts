import { defineOptions, type OptionTable } from "@refmcp/core";
import {
  commonOptions,
  directoryOptions,
  type Option,
  type OptionsRead,
  optionEntries,
  type ServerOptions,
  type Start,
  serverOptions,
} from "@refmcp/core/run";
import { type Installed, SERVER_NAMES, type ServerName } from "./catalog.ts";

/** The servers that start without being named. */
const DEFAULT_SERVERS: readonly ServerName[] = ["fetch", "filesystem", "git", "memory"];

export const options = defineOptions({
  servers: {
    type: "enum",
    list: true,
    values: SERVER_NAMES,
    valueName: "LIST",
    heading: "Servers",
    description: `Only these servers: ${SERVER_NAMES.join(", ")}. Default: ${DEFAULT_SERVERS.join(", ")}, and those with an option that you set. DATABASE_URL and SQLITE_DB_PATH, which other programs use too, add none.`,
  },
  playwright: {
    type: "flag",
    heading: "Servers",
    description: "Add the Playwright server, which tests web pages in a browser.",
  },
  findTools: {
    type: "flag",
    heading: "Servers",
    description:
      "List only find_tools and call_tool, which find and run the tools of all servers, to save the model's context. The tools of a server for which you choose some (--git.toolsets=read) are listed too.",
  },
});

/** The options of a server that have a short name here, because they name what it needs. */
const SHORT: Readonly<Record<string, { flag: string; valueName: string; description: string }>> = {
  "sqlite.dbPath": {
    flag: "sqlite",
    valueName: "FILE",
    description: "Add the SQLite server for this database file.",
  },
  "postgres.url": {
    flag: "postgres",
    valueName: "URL",
    description:
      "Add the PostgreSQL server for this database. Prefer the variable for a URL with a password: any user on the machine can see arguments.",
  },
};

/** Tools are chosen for each server, and the names of their scopes begin with one server's name. */
const {
  tools: _tools,
  excludeTools: _exclude,
  oauthToolScopes: _scopes,
  ...common
} = commonOptions;

/** Whether only the program has a common option: those of its transports, its tasks and what it prints. */
const isOfProgram = (key: string, { heading, env }: Option) =>
  heading === "HTTP" ||
  (heading === "Common" && env === false) ||
  ["taskAfterMs", "taskTimeoutMs", "auditLog"].includes(key);

/**
 * The options of this program: its own, those that apply to all servers, and each server's own with its name,
 * `--git.hooks off`.
 */
export function allOptions(servers: readonly Installed[]): ServerOptions<typeof options> {
  const named = servers.flatMap(({ name, definition }) =>
    Object.entries(serverOptions(definition).table)
      .filter(([key, option]) => !isOfProgram(key, option))
      .map(([key, option]) => [`${name}.${key}`, namedOption(name, key, option)] as const),
  );
  const short = named.filter(([key]) => key in SHORT);
  const table = { ...directoryOptions, ...options, ...Object.fromEntries(short), ...common };
  return { server: "", ownTable: options, table: { ...table, ...Object.fromEntries(named) } };
}

function namedOption(server: string, key: string, option: Option): Option {
  // Without an answer to what an entry asks for, the other servers still work.
  const { ask: _, askUnless: _unless, positional: _positional, ...rest } = option;
  const [entry] = optionEntries(server, { [key]: option });
  const short = SHORT[`${server}.${key}`];
  return short === undefined
    ? { ...rest, flag: `${server}.${entry?.flag}`, hidden: true }
    : { ...rest, ...short, heading: "Servers", env: entry?.variables ?? [] };
}

/**
 * The servers that the options choose.
 *
 * @returns a message for the user if an option is of a server that `--servers` leaves out.
 */
export function chosenServers(
  servers: readonly Installed[],
  { values, sources, variables }: OptionsRead<OptionTable>,
): readonly Installed[] | string {
  /** Whether an option of a server is set. Variables such as DATABASE_URL may be set for another program. */
  const isNamed = (name: string, from: readonly (string | undefined)[]) =>
    Object.keys(values).some(
      (key) =>
        (key.startsWith(`${name}.`) || (key === name && values[key] === true)) &&
        variables.get(key)?.startsWith("REFMCP_") !== false &&
        from.includes(sources[key]),
    );
  const list = [values.servers ?? []].flat().map(String);
  if (list.length === 0)
    return servers.filter(
      ({ name }) => DEFAULT_SERVERS.includes(name) || isNamed(name, ["argument", "environment"]),
    );
  const missing = servers.find(({ name }) => !list.includes(name) && isNamed(name, ["argument"]));
  if (missing !== undefined)
    return `An option is for the ${missing.name} server, which --servers leaves out. Add ${missing.name} to --servers, or remove the option.`;
  return servers.filter(({ name }) => list.includes(name));
}

/** What one of the servers starts with: its own options, and for those that are not set the program's. */
export function optionsOf(
  { name, definition }: Installed,
  start: Pick<Start<typeof options>, "options" | "sources">,
): Pick<Start<OptionTable>, "options" | "sources"> {
  const values: Readonly<Record<string, unknown>> = { ...start.options };
  const sources: OptionsRead<OptionTable>["sources"] = start.sources;
  const keys = Object.keys(serverOptions(definition).table).map((key) => {
    const own = `${name}.${key}`;
    const isOwn = (sources[own] ?? "default") !== "default" || !(key in values);
    return [key, isOwn ? own : key] as const;
  });
  const all: unknown = {
    directories: [],
    clientRoots: "off",
    ...Object.fromEntries(keys.map(([key, from]) => [key, values[from]])),
    // A remote client's directories are not on this machine.
    ...(values.http === undefined ? {} : { clientRoots: "off" }),
  };
  return {
    options: all as Start<OptionTable>["options"],
    sources: Object.fromEntries(keys.map(([key, from]) => [key, sources[from] ?? "default"])),
  };
}

/**
 * Divides the environment: each server gets it without the secrets of the others.
 *
 * @returns each server's environment, and the variables with a secret of any of them.
 */
export function divideEnvironment(servers: readonly Installed[], env: NodeJS.ProcessEnv) {
  const secretsOf = ({ name, definition }: Installed) => {
    const { options: table, secretVariables = [] } = definition;
    const exact = optionEntries(name, table)
      .filter(({ option }) => option.type === "secret")
      .flatMap(({ key, variables }) => {
        const short = SHORT[`${name}.${key}`]?.flag ?? [];
        return [...variables, ...[short].flat().map((flag) => `REFMCP_${flag.toUpperCase()}`)];
      });
    return Object.keys(env).filter(
      (variable) =>
        exact.includes(variable) || secretVariables.some((start) => variable.startsWith(start)),
    );
  };
  const secrets = servers.map((server) => [server.name, secretsOf(server)] as const);
  const all = Object.entries(env);
  return {
    secrets: secrets.flatMap(([, names]) => names),
    of(name: ServerName) {
      const others = secrets.flatMap(([server, names]) => (server === name ? [] : names));
      return Object.fromEntries(all.filter(([key]) => !others.includes(key)));
    },
  };
}
