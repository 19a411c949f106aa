import type { AllowedDirectories } from "@refmcp/boundary";
import type { Log } from "../log.ts";
import type { CommonOptionValues } from "./common-options.ts";
import type { ServerIcon } from "./icon.ts";
import type { OptionForm, OptionTable, OptionValues } from "./options.ts";
import type { ListedPrompt, Prompt } from "./prompt.ts";
import type { Resource, ResourceOutline } from "./resource.ts";
import type { Awaitable, Tool, ToolOutline } from "./tool.ts";

/** The argument of `open`, which builds the server's context. */
export interface OpenArguments<Table extends OptionTable> {
  /** The parsed options, including the common ones. */
  readonly options: OptionValues<Table> & CommonOptionValues;
  /** The allowed directories; empty unless the server declares `directories`. */
  readonly allowlist: AllowedDirectories;
  readonly log: Log;
  /** The environment variables, without the secrets of other servers in the same process. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborts when the context closes. */
  readonly signal: AbortSignal;
  /** Whether a tool is offered with these options, so that answers name only tools that can be called. */
  offers(tool: string): boolean;
  /** Notifies the subscribers of a resource that it changed. */
  notifyChanged(uri: string): void;
  /** Notifies clients that the list of resources changed. */
  resourcesChanged(): void;
}

export interface Toolset {
  readonly description: string;
  /** Whether its tools are offered without `--toolsets`. */
  readonly default: boolean;
}

/** A server: a list of small tools, resources and prompts over one context (the domain object). */
export interface ServerDefinition<Context, Table extends OptionTable = OptionTable> {
  /** The short key that hosts use, at most 20 characters, no underscore: `git`. */
  readonly name: string;
  readonly packageName: string;
  readonly title: string;
  readonly version: string;
  /** What it is for, in one sentence. */
  readonly description: string;
  /** Its icon in hosts' lists. Default: a plug. */
  readonly icon?: ServerIcon;
  /**
   * For the model: how the tools work together. At most 1,500 characters, with the most important rule in the first
   * 512.
   */
  readonly instructions: string;
  readonly options: Table;
  /**
   * Environment variables with secrets of this server, in addition to its options of type `secret`: their names, or how
   * the names begin. Other servers in the same process do not get them.
   */
  readonly secretVariables?: readonly string[];
  /**
   * Declares that the server accesses directories: it gets the positional directories, `--root` and `--roots`, and
   * requests the client's roots. With `fallback: "working directory"`, the working directory is allowed if nothing else
   * is. `readOnly` is the key of the list option with read-only directories. `optional`: it is useful without one.
   * `form`: what to ask a user for.
   */
  readonly directories?: {
    readonly fallback?: "working directory";
    readonly readOnly?: string;
    readonly optional?: true;
    readonly form?: OptionForm;
  };
  readonly toolsets?: Readonly<Record<string, Toolset>>;
  /** The few most used tools, at most eight: a further toolset, `slim`. */
  readonly slim?: readonly string[];
  /** Its tools' views, the folders in `views/` next to package.json: the `import.meta.url` of a module of the package. */
  readonly views?: string;
  readonly tools: readonly Tool<Context>[];
  readonly resources?: readonly Resource<Context>[];
  readonly prompts?: readonly Prompt<Context>[];
  /** Builds the context, on the first call that needs it. It should open only what the first call needs. */
  open(args: OpenArguments<Table>): Awaitable<Context>;
  /**
   * Checks that calls can be served now, for `/readyz`: a database that answers, an installed browser. Default: that
   * the context can be opened.
   *
   * @throws the reason why not, which is logged.
   */
  ready?(context: Context, signal: AbortSignal): Awaitable<void>;
  /** Releases the context's resources, within at most 2 seconds. */
  close?(context: Context): Awaitable<void>;
}

/**
 * What a server shows before its code is loaded, as JSON: its definition without functions, with the lists that its tools,
 * prompts and resources become.
 */
export interface Outline
  extends Omit<
    ServerDefinition<never>,
    "options" | "tools" | "resources" | "prompts" | "open" | "ready" | "close"
  > {
  readonly tools: readonly ToolOutline[];
  readonly prompts: readonly ListedPrompt[];
  readonly resources: readonly ResourceOutline[];
}

/** A server whose code is loaded on the first call that needs it, as in a bundle. */
export interface LazyServer<Context, Table extends OptionTable = OptionTable> extends Outline {
  readonly options: Table;
  load(): Promise<ServerDefinition<Context, Table>>;
}

export type Servable<Context, Table extends OptionTable = OptionTable> =
  | ServerDefinition<Context, Table>
  | LazyServer<Context, Table>;

/** Any server, for code that handles all servers in the same way. */
// biome-ignore lint/suspicious/noExplicitAny: only a server itself knows the type of its context.
export type AnyServer = ServerDefinition<any, any>;

// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyServable = Servable<any, any>;

/** Returns its argument and infers the types. */
export function defineServer<Context, const Table extends OptionTable>(
  definition: ServerDefinition<Context, Table>,
): ServerDefinition<Context, Table> {
  return definition;
}

/** A server that is listed from its outline and loaded on the first call that needs it, for bundles; see `outlineOf`. */
export function lazyServer<Context, Table extends OptionTable>(
  outline: Outline,
  options: Table,
  load: () => Promise<ServerDefinition<Context, Table>>,
): LazyServer<Context, Table> {
  return { ...outline, options, load };
}
