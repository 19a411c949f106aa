import { access, realpath } from "node:fs/promises";
import type { Runtime } from "@refmcp/core/internal/bind/runtime";
import { bind } from "@refmcp/core/internal/bind/server";
import type { CommonOptionValues } from "@refmcp/core/internal/define/common-options";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import type { Servable, ServerDefinition } from "@refmcp/core/internal/define/server";
import type { LazyTool, Tool } from "@refmcp/core/internal/define/tool";
import { createLog } from "@refmcp/core/internal/log";
import type { Service } from "@refmcp/core/internal/engine/service";
import type { HttpSettings } from "@refmcp/core/internal/transport/http/settings";
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

/** How a program that serves several servers as one differs from a server. */
export interface Composition<Context, Table extends OptionTable> {
  /** The options of the program and of all its servers. */
  readonly options: ServerOptions<Table>;
  /** What follows the options in the help. */
  readonly sections: NonNullable<HelpFacts["sections"]>;
  /**
   * @param own the server of the program's own definition
   * @returns a message for the user if the options don't fit.
   */
  serve(
    own: Runtime<Context, Table>,
    start: Start<Table>,
    given: OptionsRead<OptionTable>,
  ): Promise<Served | string>;
}

/**
 * Creates a running server from a definition, a command line and an environment, or a text to print (help, version, a
 * host's entry, an error in the options). Opens nothing, and writes nothing except warnings.
 *
 * @param how `writeLog` receives the log's lines (default: stderr). `inShell`: runs one command for a person or a
 *   script, in their working directory. `composition`: the program serves several servers as one.
 */
export async function prepare<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  {
    writeLog,
    inShell = false,
    composition,
  }: {
    readonly writeLog?: (line: string) => void;
    readonly inShell?: boolean;
    readonly composition?: Composition<Context, Table> | undefined;
  } = {},
): Promise<Prepared<Context, Table>> {
  const all = composition?.options ?? serverOptions(definition);
  const help = async () => {
    const { renderHelp } = await import("./help.ts");
    return print(
      renderHelp(
        { ...definition, all, sections: composition?.sections, bin: await clonedFile() },
        process.stdout.columns,
      ),
    );
  };
  const command = parseCommandLine(all, { argv, env });
  const near = await nearCommand(all, argv, exists);
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
  if (command.kind === "help") return help();
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
  const served = (await composition?.serve(runtime, start, command.given)) ?? servedOf(runtime);
  if (typeof served === "string") return refuse(served);
  if (command.kind === "list-tools") {
    const { renderToolTable } = await import("./help.ts");
    return print(renderToolTable(served.tools, process.stdout.columns));
  }
  if (options.printConfig !== undefined) {
    const { carryOptions, renderHostEntry } = await import("./host-entry.ts");
    const carried = carryOptions(all.server, all.table, command.given, process.platform);
    const { text, guidance } = renderHostEntry(options.printConfig, definition, carried, {
      bin: await ownFile(),
    });
    return print(text, (await entryWarnings(definition, all.table, options)) + guidance);
  }
  return { kind: "run", runtime, served, http };
}

function servedOf<Context>(runtime: Runtime<Context, OptionTable>): Served {
  return { service: bind(runtime), tools: runtime.tools, close: () => runtime.close() };
}

/** The name of a server's process in messages: `refmcp-git`. */
export function processName({ name }: Pick<ServerDefinition<never>, "name">): string {
  return name === "refmcp" ? name : `refmcp-${name}`;
}

/** The file that node runs in a clone; undefined for an installed package. */
export async function clonedFile(): Promise<string | undefined> {
  const { localCommand } = await import("./host-entry.ts");
  return localCommand(await ownFile())?.args[0];
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** What would keep a host from using a printed entry: lines for stderr. */
async function entryWarnings(
  { directories }: Pick<ServerDefinition<never>, "directories">,
  table: OptionTable,
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const paths = Object.entries(table).flatMap(([key, { type }]) => {
    const given = type === "directory" || type === "file" ? [options[key] ?? []].flat() : [];
    return given.map((value) => {
      const file =
        typeof value === "object" && value !== null && "value" in value ? value.value : value;
      return { type, file: String(file) };
    });
  });
  const lines: string[] = [];
  if (
    directories !== undefined &&
    directories.optional !== true &&
    !paths.some(({ type }) => type === "directory")
  )
    lines.push(
      "Warning: this entry has no directory, so the server can only use the folders that the host reports as open. Many hosts report none: add the directory, before --print-config.",
    );
  for (const { type, file } of paths) {
    if (/[\\/]path[\\/]to[\\/]/.test(file))
      lines.push(`Warning: ${file} is a placeholder. Use the path of your own ${type}.`);
    else if (type === "directory" && !(await exists(file)))
      lines.push(`Warning: ${file} does not exist.`);
  }
  return lines.map((line) => `${line}\n`).join("");
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
  const { HttpOptionError, readHttpSettings } = await import(
    "@refmcp/core/internal/transport/http/settings"
  );
  try {
    return readHttpSettings({ ...options, http }, env);
  } catch (error) {
    if (error instanceof HttpOptionError) return error.message;
    throw error;
  }
}
