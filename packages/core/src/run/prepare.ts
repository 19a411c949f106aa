import { realpath } from "node:fs/promises";
import type { Runtime } from "../bind/runtime.ts";
import { serviceOf } from "../bind/server.ts";
import type { CommonOptionValues } from "../define/common-options.ts";
import type { OptionTable } from "../define/options.ts";
import type { Servable, ServerDefinition } from "../define/server.ts";
import type { LazyTool, Tool } from "../define/tool.ts";
import type { Service } from "../engine/service.ts";
import { createLog } from "../log.ts";
import type { HttpSettings } from "../transport/http/settings.ts";
import type { Entry, Launch } from "./entry.ts";
import type { HelpFacts } from "./help.ts";
import { nearCommand } from "./near-command.ts";
import { type ServerOptions, serverOptions } from "./options.ts";
import { type OptionsRead, parseCommandLine } from "./parse-options.ts";
import { runtimeOf, type Start } from "./runtime.ts";

/** The output of a process that does not serve, and its exit code. */
export interface Printed {
  readonly kind: "print";
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A server that is ready for connections (over HTTP if `http` is set), or a text to print instead. */
export type Prepared<Context, Table extends OptionTable> =
  | {
      readonly kind: "run";
      readonly runtime: Runtime<Context, Table>;
      readonly served: Served;
      readonly http: HttpSettings | undefined;
    }
  | Printed;

/** What is served: a server, or several as one. */
export interface Served {
  readonly service: Service;
  readonly tools: readonly (Tool<never> | LazyTool<never>)[];
  close(): Promise<void>;
  /** Called with an uncaught exception. @returns whether the process can go on. */
  recover?(error: unknown): boolean;
}

/**
 * Creates what an `Engine` serves from a server's definition: for transports of your own, and for tests. Opens nothing.
 *
 * @param how `argv` and `env`: the options, as on the command line and in the environment of a process (default: none).
 *   `writeLog` receives the log's lines (default: stderr).
 * @throws {Error} if the options are invalid.
 */
export async function bind<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  {
    argv = [],
    env = {},
    writeLog,
  }: {
    readonly argv?: readonly string[];
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly writeLog?: (line: string) => void;
  } = {},
): Promise<Bound> {
  const prepared = await prepare(definition, argv, env, writeLog === undefined ? {} : { writeLog });
  if (prepared.kind === "print") throw new Error(prepared.stderr + prepared.stdout);
  return { ...prepared.served, http: prepared.http };
}

/** A server that is ready for clients. */
interface Bound extends Served {
  /** Where to listen, if `--http` is among the options. */
  readonly http: HttpSettings | undefined;
}

/** How a program differs from one that serves a single server over its own options. */
export interface Program<Context, Table extends OptionTable> {
  readonly options: ServerOptions<Table>;
  /** What follows the options in the help. Default: the commands for a shell. */
  readonly sections?: HelpFacts["sections"];
  /**
   * Serves several servers as one. Default: only the program's own definition.
   *
   * @param own the server of the program's own definition
   * @returns a message for the user if the options don't fit.
   */
  serve?(
    own: Runtime<Context, Table>,
    start: Start<Table>,
    given: OptionsRead<OptionTable>,
  ): Promise<Served | string>;
  /**
   * What `--print-config` prints. Default: the common form.
   *
   * `command`: what starts this server again in a clone; undefined for an installed package, which npx starts.
   */
  readonly entry?: (
    entry: Entry,
    given: OptionsRead<OptionTable>,
    command: Launch | undefined,
  ) => { readonly text: string; readonly guidance: string };
}

/**
 * Creates a running server from a definition, a command line and an environment, or a text to print (help, version, a
 * host's entry, an error in the options). Opens nothing, and writes nothing except warnings.
 *
 * @param how `writeLog` receives the log's lines (default: stderr). `inShell`: runs one command for a person or a
 *   script, in their working directory. `program`: its options, its help, what it serves and the entry it prints, if
 *   they are not just the server's.
 */
export async function prepare<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  {
    writeLog,
    inShell = false,
    program,
  }: {
    readonly writeLog?: (line: string) => void;
    readonly inShell?: boolean;
    readonly program?: Program<Context, Table> | undefined;
  } = {},
): Promise<Prepared<Context, Table>> {
  const all = program?.options ?? serverOptions(definition);
  const help = async (topic?: "HTTP") => {
    const { renderHelp } = await import("./help.ts");
    return print(
      renderHelp(
        { ...definition, all, sections: program?.sections, topic, bin: await clonedFile() },
        process.stdout.columns,
      ),
    );
  };
  const command = parseCommandLine(all, { argv, env });
  const near = await nearCommand(all, argv);
  if (near?.word === "help") return help();
  if (near !== undefined) {
    const { startedAs } = await import("./help.ts");
    const start = startedAs(definition.packageName, await clonedFile());
    return refuse(
      `Unknown command "${near.word}". Did you mean: ${start} ${near.meant}? For a directory of that name, write ./${near.word}.`,
    );
  }
  if (command.kind === "error") return refuse(command.message);
  if (command.kind === "version") return print(`${definition.packageName} ${definition.version}\n`);
  if (command.kind === "help") return help(command.topic);
  if (command.kind === "describe") {
    const { describeServer } = await import("./describe.ts");
    return print(`${JSON.stringify(await describeServer(definition, all.table), undefined, 2)}\n`);
  }
  const http = await httpSettings(command.options, env);
  if (typeof http === "string") return refuse(http);
  if (http !== undefined && inShell)
    return refuse("--http runs until stopped; omit it for a single command.");
  // A remote client's directories are not on this machine.
  const options =
    http === undefined ? command.options : { ...command.options, clientRoots: "off" as const };
  const log = createLog(processName(definition), options.logLevel, writeLog);
  for (const warning of command.given.warnings) log.warning(warning);
  const start = {
    options,
    sources: command.given.sources,
    log,
    stateKey: http?.stateKey,
    inShell,
  };
  const runtime = await runtimeOf(definition, start);
  if (typeof runtime === "string") return refuse(runtime);
  const served = (await program?.serve?.(runtime, start, command.given)) ?? servedOf(runtime);
  if (typeof served === "string") return refuse(served);
  if (command.kind === "print-config") {
    const { carryOptions, commonEntry, entryWarnings, localCommand } = await import("./entry.ts");
    const carried = carryOptions(all.server, all.table, command.given, process.platform);
    const start = localCommand(await ownFile());
    const { text, guidance } =
      program?.entry?.(carried, command.given, start) ?? commonEntry(definition, carried, start);
    return print(text, (await entryWarnings(definition, all.table, options)) + guidance);
  }
  return { kind: "run", runtime, served, http };
}

function servedOf<Context>(runtime: Runtime<Context, OptionTable>): Served {
  return { service: serviceOf(runtime), tools: runtime.tools, close: () => runtime.close() };
}

/** The name of a server's process in messages: `refmcp-git`. */
export function processName({ name }: Pick<ServerDefinition<never>, "name">): string {
  return name === "refmcp" ? name : `refmcp-${name}`;
}

/** The file that node runs in a clone; undefined for an installed package. */
export async function clonedFile(): Promise<string | undefined> {
  const { localCommand } = await import("./entry.ts");
  return localCommand(await ownFile())?.args[0];
}

/** The file that node runs, with links resolved. */
function ownFile(): Promise<string | undefined> {
  return realpath(process.argv[1] ?? "").catch(() => undefined);
}

function print(stdout: string, stderr = ""): Printed {
  return { kind: "print", stdout, stderr, exitCode: 0 };
}

function refuse(message: string): Printed {
  return { kind: "print", stdout: "", stderr: `${message}\n`, exitCode: 2 };
}

/** Where to listen; an error message if the options are invalid, undefined without `--http`. */
async function httpSettings(
  options: CommonOptionValues,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HttpSettings | string | undefined> {
  const { http, authTokenEnv, oauthIssuer, oauthAudience, tlsCert } = options;
  if (http === undefined) {
    const alone = [authTokenEnv, oauthIssuer, oauthAudience, tlsCert].some(
      (given) => given !== undefined,
    );
    const { sse, websocket, httpStateless } = options;
    return alone || sse || websocket || httpStateless
      ? "--auth-token-env, --oauth-issuer, --oauth-audience, --tls-cert, --sse, --websocket and --http-stateless need --http ADDRESS; stdio serves only the host that started it."
      : undefined;
  }
  const { HttpOptionError, readHttpSettings } = await import("../transport/http/settings.ts");
  try {
    return readHttpSettings({ ...options, http }, env);
  } catch (error) {
    if (error instanceof HttpOptionError) return error.message;
    throw error;
  }
}
