import {
  type CommonOptionValues,
  commonOptions,
  directoryOptions,
} from "@refmcp/core/internal/define/common-options";
import {
  defineOptions,
  type Option,
  type OptionTable,
  type OptionValues,
} from "@refmcp/core/internal/define/options";
import { carryOptions, textsOf } from "@refmcp/launch/internal/host-entry";
import {
  joinForVariable,
  optionEntries,
  type ServerOptions,
  serverOptions,
} from "@refmcp/launch/internal/options";
import { type OptionsRead, parseOptions } from "@refmcp/launch/internal/parse-options";
import { type Installed, SERVER_NAMES } from "./catalog.ts";
import type { Start } from "./child/process.ts";

const { readOnly, confirm, timeoutMs, taskAfterMs, taskTimeoutMs } = commonOptions;
const { maxAnswerChars, maxMessageBytes, auditLog, logLevel } = commonOptions;
const { listTools, describe, printConfig, version, help } = commonOptions;

/** Options that apply to all servers, unless one has its own value: `--read-only --git.no-read-only`. */
const SHARED = {
  ...directoryOptions,
  readOnly,
  confirm,
  timeoutMs,
  maxAnswerChars,
  maxMessageBytes,
  auditLog,
  logLevel,
};

const OWN = defineOptions({
  servers: {
    type: "enum",
    list: true,
    values: SERVER_NAMES,
    valueName: "LIST",
    heading: "Servers",
    description: `Only these servers: ${SERVER_NAMES.join(", ")}. Each starts at its first call.`,
  },
  findTools: {
    type: "flag",
    heading: "Servers",
    description:
      "List only find_tools and call_tool, which find and run the tools of all servers, to save the model's context. The tools of a server for which you choose some (--git.toolsets=read) are listed too.",
  },
});

/** Options of a server that make no sense behind another one, or are this program's own. */
const LEFT_OUT: ReadonlySet<string> = new Set(
  Object.entries(commonOptions)
    .filter(
      ([, option]: [string, Option]) =>
        option.heading === "HTTP" || option.heading === "Information",
    )
    .map(([key]) => key)
    .filter((key) => key !== "logLevel")
    .concat("taskAfterMs", "taskTimeoutMs"),
);

/** The options that this program shows under a short name, because a server is of little use without them. */
const SHORT: Readonly<
  Record<
    string,
    {
      readonly flag: string;
      readonly valueName: string;
      readonly description: string;
      readonly variable: string;
    }
  >
> = {
  "sqlite.dbPath": {
    flag: "sqlite",
    valueName: "FILE",
    description: "The database file of the SQLite server.",
    variable: "REFMCP_SQLITE_DB_PATH",
  },
  "postgres.url": {
    flag: "postgres",
    valueName: "URL",
    description:
      "The database of the PostgreSQL server. Prefer the variable DATABASE_URL for a URL with a password: any user on the machine can see arguments.",
    variable: "REFMCP_POSTGRES_URL",
  },
};

/**
 * The options of this program: its own, those that apply to all servers, and each server's own with its name,
 * `--git.hooks off`.
 */
export function allOptions(servers: readonly Installed[]): ServerOptions<typeof OWN> {
  const named = servers.flatMap(({ name, definition }) =>
    Object.entries(serverOptions(definition).table)
      .filter(([key]) => !LEFT_OUT.has(key))
      .map(([key, option]): [string, Option] => [`${name}.${key}`, namedOption(name, key, option)]),
  );
  const short = named.filter(([key]) => key in SHORT);
  const table: OptionTable = {
    ...directoryOptions,
    ...OWN,
    ...Object.fromEntries(short),
    ...SHARED,
    taskAfterMs,
    taskTimeoutMs,
    listTools,
    describe,
    printConfig,
    version,
    help,
    ...Object.fromEntries(named.filter(([key]) => !(key in SHORT))),
  };
  return { server: "", table, own: OWN };
}

function namedOption(name: string, key: string, option: Option): Option {
  const short = SHORT[`${name}.${key}`];
  const { ask: _, askUnless: _unless, positional: _positional, ...rest } = option;
  const [{ flag } = { flag: key }] = optionEntries(name, { [key]: option });
  if (short === undefined) return { ...rest, flag: `${name}.${flag}`, hidden: true };
  const { variable, ...shown } = short;
  return { ...rest, ...shown, heading: "Servers", env: [variable, ...(option.env || [])] };
}

type Values = OptionValues<OptionTable> & CommonOptionValues;

/** A server with its options. */
export interface ServerSettings {
  readonly server: Installed;
  /** How to start its process. */
  readonly start: Start;
  readonly options: Values;
  /** Whether its tools are listed. */
  readonly isListed: boolean;
}

/**
 * Divides the options among the servers.
 *
 * @returns the settings of each server, or a message for the user.
 */
export function settingsOf(
  servers: readonly Installed[],
  given: OptionsRead<OptionTable>,
  env: NodeJS.ProcessEnv,
): ServerSettings[] | string {
  const wanted: unknown = given.values.servers;
  const chosen = Array.isArray(wanted) && wanted.length > 0 ? wanted : SERVER_NAMES;
  const all: ServerSettings[] = [];
  for (const server of servers) {
    if (!chosen.includes(server.name)) continue;
    const settings = serverSettings(server, given, env);
    if (typeof settings === "string") return `${server.name}: ${settings}`;
    all.push(settings);
  }
  return all;
}

function serverSettings(
  server: Installed,
  given: OptionsRead<OptionTable>,
  env: NodeJS.ProcessEnv,
): ServerSettings | string {
  const { name, definition } = server;
  const { table } = serverOptions(definition);
  const isGiven = (key: string) => (given.sources[key] ?? "default") !== "default";
  const keys = Object.keys(table)
    .map((key) => ({
      key,
      from: [`${name}.${key}`, ...(key in SHARED ? [key] : [])].find(isGiven),
    }))
    .filter(({ from }) => from !== undefined);
  const values = Object.fromEntries(keys.map(({ key, from = "" }) => [key, given.values[from]]));
  const sources = Object.fromEntries(keys.map(({ key }) => [key, "argument" as const]));
  const read = {
    ok: true as const,
    values,
    sources,
    variables: new Map<string, string>(),
    warnings: [],
  };
  const carried = carryOptions(name, withoutQuestions(table), read, process.platform);
  // Arguments can be seen by every user of the machine, and the environment cannot.
  const secrets = Object.fromEntries(
    optionEntries(name, table).flatMap(({ key, option, variables: [variable = ""] }) =>
      carried.env.some((one) => one.name === variable && one.secret === true)
        ? [[variable, joinForVariable(option, textsOf(values[key]), process.platform)]]
        : [],
    ),
  );
  const own = { ...env, ...secrets };
  const options = parseOptions(name, table, { argv: carried.args, env: own });
  if (!options.ok) return options.message;
  return {
    server,
    start: {
      bin: server.bin,
      args: carried.args,
      env: own,
    },
    options: complete(options.values),
    isListed: given.values.findTools !== true || ["toolsets", "tools"].some((key) => key in values),
  };
}

/** Options that a host's entry asks for are not missing here. */
function withoutQuestions(table: OptionTable): OptionTable {
  const entries = Object.entries(table).map(([key, { ask: _, ...option }]): [string, Option] => [
    key,
    option,
  ]);
  return Object.fromEntries(entries);
}

/** The options with those that a server without directories does not have, which the engine reads. */
export function complete(values: OptionValues<OptionTable>): Values {
  const all: unknown = { directories: [], clientRoots: "off", ...values };
  return all as Values;
}
