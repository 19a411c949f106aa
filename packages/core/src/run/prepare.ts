import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { DirectoryAllowlist } from "@refmcp/boundary/directories";
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
import { type OptionEntry, optionEntries, type ServerOptions, serverOptions } from "./options.ts";
import { type OptionsRead, parseCommandLine, unknownNames } from "./parse-options.ts";

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
): Promise<Served & { readonly http: HttpSettings | undefined }> {
  const prepared = await prepare(definition, how.argv ?? [], how.env ?? {}, how);
  if (prepared.kind === "print") throw new Error(prepared.stderr + prepared.stdout);
  return { ...prepared.served, http: prepared.http };
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
  how: {
    readonly writeLog?: (line: string) => void;
    readonly inShell?: boolean;
    readonly program?: Program<Context, Table> | undefined;
  } = {},
): Promise<Prepared<Context, Table>> {
  const { inShell = false, program } = how;
  const server = await lazily(definition);
  const all = program?.options ?? serverOptions(server);
  const command = parseCommandLine(all, { argv, env });
  if (command.kind === "error") return refuse(command.message);
  if (!("given" in command)) {
    if (command.kind === "version") return print(`${server.packageName} ${server.version}\n`);
    if (command.kind === "describe") {
      const { describeServer } = await import("./describe.ts");
      return print(`${JSON.stringify(describeServer(server, all.table), undefined, 2)}\n`);
    }
    const { renderHelp } = await import("./help.ts");
    const isHttp = command.kind === "http-help";
    const facts = { ...server, all, sections: program?.sections, isHttp, bin: await clonedFile() };
    return print(renderHelp(facts, process.stdout.columns));
  }
  const { given } = command;
  const http = await httpSettings(command.options, given, env);
  if (typeof http === "string") return refuse(http);
  if (http !== undefined && inShell)
    return refuse("--http runs until stopped; omit it for a single command.");
  // A remote client's directories are not on this machine.
  const local = http === undefined ? {} : { clientRoots: "off" as const };
  const options = { ...command.options, ...local };
  const log = createLog(processName(server), options.logLevel, how.writeLog);
  for (const warning of given.warnings) log.warning(warning);
  const start = { options, sources: given.sources, log, stateKey: http?.stateKey, inShell };
  const runtime = await runtimeOf(server, start);
  if (typeof runtime === "string") return refuse(runtime);
  const served = (await program?.serve?.(runtime, start, given)) ?? {
    service: serviceOf(runtime),
    tools: runtime.tools,
    close: () => runtime.close(),
  };
  if (typeof served === "string") return refuse(served);
  if (command.kind === "print-config") {
    const { carryOptions, commonEntry, localCommand } = await import("./entry.ts");
    const carried = carryOptions(all.server, all.table, given, process.platform);
    const again = localCommand(await ownFile());
    const { text, guidance } =
      program?.entry?.(carried, given, again) ?? commonEntry(server, carried, again);
    const missing = options.directories.filter((directory) => !existsSync(directory));
    const warnings = missing.map((directory) => `Warning: ${directory} does not exist.\n`);
    return print(text, warnings.join("") + guidance);
  }
  return { kind: "run", runtime, served, http };
}

async function lazily<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
): Promise<LazyServer<Context, Table>> {
  if ("load" in definition) return definition;
  return (await import("../bind/outline.ts")).alreadyLoaded(definition);
}

/** What a server starts with, in addition to its definition. */
export interface Start<Table extends OptionTable> extends Omit<RuntimeParts<Table>, "allowed"> {
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
  const known = definition.tools.flatMap(namesOf);
  const mistake =
    unknownNames("--tools", "tool", options.tools, known, "the command tools") ??
    unknownNames("--exclude-tools", "tool", options.excludeTools, known, "the command tools");
  if (mistake !== undefined) return mistake;
  const { directories: declared } = definition;
  const allowed = allowlistOf(
    inShell && declared !== undefined ? { ...declared, fallback: "working directory" } : declared,
    options,
    sources,
  );
  return new Runtime(definition, { options, allowed, env, log, stateKey });
}

function allowlistOf(
  declared: Outline["directories"],
  options: CommonOptionValues & Readonly<Record<string, unknown>>,
  sources: OptionsRead<OptionTable>["sources"],
): DirectoryAllowlist {
  const configured = (key: string, writable: boolean) => {
    const paths: unknown = options[key];
    const source =
      sources[key] === "environment" ? ("environment" as const) : ("argument" as const);
    return Array.isArray(paths)
      ? paths.map((path) => ({ path: String(path), source, writable }))
      : [];
  };
  const { readOnly = "", fallback } = declared ?? {};
  return new DirectoryAllowlist({
    configured: [...configured("directories", true), ...configured(readOnly, false)],
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

const print = (stdout: string, stderr = ""): Printed => {
  return { kind: "print", stdout, stderr, exitCode: 0 };
};
const refuse = (message: string): Printed => ({ ...print("", `${message}\n`), exitCode: 2 });

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
    const alone = optionEntries("", commonOptions).find(isHttp);
    return (
      alone &&
      `Options for HTTP, such as --${alone.flag}, need --http ADDRESS; stdio serves only the host that started it.`
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
