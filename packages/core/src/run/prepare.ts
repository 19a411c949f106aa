import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { type ConfiguredDirectory, DirectoryAllowlist } from "@refmcp/boundary/directories";
import { Runtime, type RuntimeParts } from "../bind/runtime.ts";
import { serviceOf } from "../bind/server.ts";
import { type CommonOptionValues, commonOptions } from "../define/common-options.ts";
import type { OptionTable } from "../define/options.ts";
import type { LazyServer, Outline, Servable } from "../define/server.ts";
import { namesOf, type ToolOutline } from "../define/tool.ts";
import type { Service } from "../engine/service.ts";
import { createLog } from "../log.ts";
import type { HttpSettings } from "../transport/http/settings.ts";
import type { Entry, Launch } from "./entry.ts";
import type { HelpFacts } from "./help.ts";
import { unknownNames } from "./option-messages.ts";
import { type OptionEntry, optionEntries, type ServerOptions, serverOptions } from "./options.ts";
import { type OptionsRead, parseCommandLine } from "./parse-options.ts";

/** The output of a process that does not serve, and its exit code. */
interface PrintedOutput {
  readonly kind: "print";
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A server that is ready for connections (over HTTP if `http` is set), or a text to print instead. */
type PrepareResult<Context, Table extends OptionTable> =
  | {
      readonly kind: "run";
      readonly runtime: Runtime<Context, Table>;
      readonly runningService: RunningService;
      readonly http: HttpSettings | undefined;
    }
  | PrintedOutput;

/** What is served: a server, or several as one. */
export interface RunningService {
  readonly service: Service;
  readonly tools: readonly ToolOutline[];
  close(): Promise<void>;
  /** Called with an uncaught exception. @returns whether the process can go on. */
  recover?(error: unknown): boolean;
}

/**
 * Creates what an `Engine` serves from a server's definition: for transports of your own, and for tests. Opens nothing.
 *
 * @param how `argv` and `env`: the options, as on the command line and in the environment of a process (default: none).
 *   `writeLog` receives the log's lines (default: stderr).
 * @returns also where to listen, if `--http` is among the options.
 * @throws {Error} if the options are invalid.
 */
export async function bind<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  how: {
    readonly argv?: readonly string[];
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly writeLog?: (line: string) => void;
  } = {},
): Promise<RunningService & { readonly http: HttpSettings | undefined }> {
  const result = await prepare(definition, how.argv ?? [], how.env ?? {}, how);
  if (result.kind === "print") throw new Error(result.stderr + result.stdout);
  return { ...result.runningService, http: result.http };
}

/** How a program differs from one that serves a single server over its own options. */
export interface Program<Context, Table extends OptionTable> {
  readonly options: ServerOptions<Table>;
  /** What follows the options in the help. Default: the commands for a shell. */
  readonly sections?: HelpFacts["sections"];
  /**
   * Serves several servers as one. Default: only the program's own definition.
   *
   * @param ownRuntime the server of the program's own definition
   * @returns a message for the user if the options don't fit.
   */
  serve?(
    ownRuntime: Runtime<Context, Table>,
    start: Start<Table>,
    parsedOptions: OptionsRead<OptionTable>,
  ): Promise<RunningService | string>;
  /**
   * What `--print-config` prints. Default: the common form.
   *
   * `command`: what starts this server again in a clone; undefined for an installed package, which npx starts.
   */
  readonly entry?: (
    entry: Entry,
    parsedOptions: OptionsRead<OptionTable>,
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
  how: {
    readonly writeLog?: (line: string) => void;
    readonly inShell?: boolean;
    readonly program?: Program<Context, Table> | undefined;
  } = {},
): Promise<PrepareResult<Context, Table>> {
  const { inShell = false, program } = how;
  const server = await lazily(definition);
  const allOptions = program?.options ?? serverOptions(server);
  const command = parseCommandLine(allOptions, { argv, env });
  if (command.kind === "error") return refuse(command.message);
  if (!("parsedOptions" in command)) {
    if (command.kind === "version") return print(`${server.packageName} ${server.version}\n`);
    if (command.kind === "describe") {
      const { describeServer } = await import("./describe.ts");
      return print(`${JSON.stringify(describeServer(server, allOptions.table), undefined, 2)}\n`);
    }
    const { renderHelp } = await import("./help.ts");
    const isHttp = command.kind === "http-help";
    const [bin, sections] = [await clonedFile(), program?.sections];
    const facts = { ...server, options: allOptions, sections, isHttp, bin };
    return print(renderHelp(facts, process.stdout.columns));
  }
  const { parsedOptions } = command;
  const http = await httpSettings(command.options, parsedOptions, env);
  if (typeof http === "string") return refuse(http);
  if (http !== undefined && inShell)
    return refuse("--http runs until stopped; omit it for a single command.");
  // A remote client's directories are not on this machine.
  const local = http === undefined ? {} : { clientRoots: "off" as const };
  const options = { ...command.options, ...local };
  const log = createLog(processName(server), options.logLevel, how.writeLog);
  for (const warning of parsedOptions.warnings) log.warning(warning);
  const start = { options, sources: parsedOptions.sources, log, stateKey: http?.stateKey, inShell };
  const runtime = await runtimeOf(server, start);
  if (typeof runtime === "string") return refuse(runtime);
  const runningService = (await program?.serve?.(runtime, start, parsedOptions)) ?? {
    service: serviceOf(runtime),
    tools: runtime.tools,
    close: () => runtime.close(),
  };
  if (typeof runningService === "string") return refuse(runningService);
  if (command.kind === "print-config") {
    const { carryOptions, commonEntry, localCommand } = await import("./entry.ts");
    const { server: ownName, table } = allOptions;
    const entryOptions = carryOptions(ownName, table, parsedOptions, process.platform);
    const launch = localCommand(await ownFile());
    const { text, guidance } =
      program?.entry?.(entryOptions, parsedOptions, launch) ??
      commonEntry(server, entryOptions, launch);
    const missing = options.directories.filter((directory) => !existsSync(directory));
    const warnings = missing.map((directory) => `Warning: ${directory} does not exist.\n`);
    return print(text, warnings.join("") + guidance);
  }
  return { kind: "run", runtime, runningService, http };
}

async function lazily<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
): Promise<LazyServer<Context, Table>> {
  if ("load" in definition) return definition;
  return (await import("../bind/outline.ts")).asLazyServer(definition);
}

/** What a server starts with, in addition to its definition. */
export interface Start<Table extends OptionTable> extends Omit<RuntimeParts<Table>, "allowlist"> {
  readonly sources: OptionsRead<OptionTable>["sources"];
  /** Whether it runs one command for a person or a script, in their working directory. */
  readonly inShell: boolean;
}

/**
 * Creates a running server. Opens nothing.
 *
 * @returns a message for the user if the options don't fit the server.
 */
export async function runtimeOf<Context, Table extends OptionTable>(
  definition: LazyServer<Context, Table>,
  { options, sources, env, log, stateKey, inShell }: Start<Table>,
): Promise<Runtime<Context, Table> | string> {
  const names = definition.tools.flatMap(namesOf);
  const mistake =
    unknownNames("--tools", "tool", options.tools, names, "the command tools") ??
    unknownNames("--exclude-tools", "tool", options.excludeTools, names, "the command tools");
  if (mistake !== undefined) return mistake;
  const { directories: rules } = definition;
  const allowlist = allowlistOf(
    inShell && rules !== undefined ? { ...rules, fallback: "working directory" } : rules,
    options,
    sources,
  );
  return new Runtime(definition, { options, allowlist, env, log, stateKey });
}

function allowlistOf(
  rules: Outline["directories"],
  options: CommonOptionValues & Readonly<Record<string, unknown>>,
  sources: OptionsRead<OptionTable>["sources"],
): DirectoryAllowlist {
  const readConfigured = (key: string, writable: boolean): ConfiguredDirectory[] => {
    const paths: unknown = options[key];
    const source = sources[key] === "environment" ? "environment" : "argument";
    if (!Array.isArray(paths)) return [];
    return paths.map((path) => ({ path: String(path), source, writable }));
  };
  const { readOnly = "", fallback } = rules ?? {};
  return new DirectoryAllowlist({
    configured: [...readConfigured("directories", true), ...readConfigured(readOnly, false)],
    mode: options.clientRoots,
    ...(fallback === undefined ? {} : { fallback: process.cwd() }),
  });
}

/** The name of a server's process in messages: `refmcp-git`. */
export function processName({ name }: { readonly name: string }): string {
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

const print = (stdout: string, stderr = ""): PrintedOutput => {
  return { kind: "print", stdout, stderr, exitCode: 0 };
};
const refuse = (message: string): PrintedOutput => ({ ...print("", `${message}\n`), exitCode: 2 });

/** Where to listen; an error message if the options are invalid, undefined without `--http`. */
async function httpSettings(
  options: CommonOptionValues,
  { sources }: OptionsRead<OptionTable>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HttpSettings | string | undefined> {
  const { http } = options;
  if (http === undefined) {
    const isHttp = ({ key, option }: OptionEntry) =>
      option.heading === "HTTP" && (sources[key] ?? "default") !== "default";
    const strayOption = optionEntries("", commonOptions).find(isHttp);
    return (
      strayOption &&
      `Options for HTTP, such as --${strayOption.flag}, need --http ADDRESS; stdio serves only the host that started it.`
    );
  }
  const { HttpOptionError, readHttpSettings } = await import("../transport/http/settings.ts");
  try {
    return readHttpSettings({ ...options, http }, env);
  } catch (error) {
    if (error instanceof HttpOptionError) return error.message;
    throw error;
  }
}
