import type { Bound } from "../boundary/paths/types.ts";
import type { Log } from "../log.ts";
import type { CommonOptionValues } from "./common-options.ts";
import type { ServerIcon } from "./icon.ts";
import type { OptionTable, OptionValues } from "./options.ts";
import type { LazyPrompt, Prompt } from "./prompt.ts";
import type { LazyResource, Resource } from "./resource.ts";
import type { Awaitable, LazyTool, Tool } from "./tool.ts";

/** What `open` gets to build the server's context from. */
export interface Opening<Table extends OptionTable> {
  /** The parsed options, the common ones included. */
  readonly options: OptionValues<Table> & CommonOptionValues;
  /** The directories that may be touched; empty unless the server declares `directories`. */
  readonly bound: Bound;
  readonly log: Log;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
  /** Whether a tool exists under these options, so that an answer names only tools that can be called. */
  offers(tool: string): boolean;
  /** Tells the subscribers of a resource that it changed. */
  changed(uri: string): void;
  /** Tells clients that the list of resources changed. */
  resourcesChanged(): void;
}

export interface Toolset {
  readonly description: string;
  /** Whether its tools are there without `--toolsets`. */
  readonly default: boolean;
}

/**
 * A server: a list of small tools, resources and prompts over one context (the domain object).
 */
export interface ServerDefinition<Context, Table extends OptionTable = OptionTable> {
  /** The short key that hosts use, at most 20 characters, no underscore: `git`. */
  readonly name: string;
  /** The npm package. */
  readonly packageName: string;
  readonly title: string;
  readonly version: string;
  /** What it is for, one sentence. */
  readonly description: string;
  /** Its page for people. */
  readonly websiteUrl?: string;
  /** Its icon in lists of servers. Default: a plug. */
  readonly icon?: ServerIcon;
  /** For the model: how the tools work together. At most 1,500 characters, the core rule in the first 512. */
  readonly instructions: string;
  readonly options: Table;
  /**
   * Declares that the server touches directories: it gets the positional directories, `--root` and `--roots`,
   * and asks the client for its roots. With `fallback: "working directory"` that directory is the bound where
   * nothing else is; `readOnly` is the key of the list option whose directories may be read and not changed.
   */
  readonly directories?: { readonly fallback?: "working directory"; readonly readOnly?: string };
  readonly toolsets?: Readonly<Record<string, Toolset>>;
  /** The names of the few tools that `--slim` leaves. Default: the default tools. */
  readonly slim?: readonly string[];
  /** Protocol extensions that it supports, with their settings (`capabilities.extensions`), by their identifiers. */
  readonly extensions?: Record<string, Record<string, unknown>>;
  /**
   * The skills of its package, folders in `skills/` next to package.json: the `import.meta.url` of the module
   * that defines the server, or, in a bundle, the skills themselves.
   */
  readonly skills?: string | readonly Skill[];
  /**
   * Where the views of its tools are, folders in `views/` next to package.json: `import.meta.url`, as for
   * skills.
   */
  readonly views?: string;
  /** Whether handlers use `Call.log`; only then is logging, which 2026-07-28 deprecates, declared in that revision. */
  readonly logsToClient?: boolean;
  /**
   * Optional arguments that tools list only if an option has a value, and the option's key: `{ database: "db" }`. Calls
   * may pass them anyway.
   */
  readonly argumentNeeds?: Readonly<Record<string, string>>;
  readonly tools: readonly Tool<Context>[];
  /** Tools that an option adds, for example from a file that it names; they are loaded at start, if it is given. */
  readonly moreTools?: {
    /** Key of the option. */
    readonly option: string;
    /** @throws ToolError if they can't be offered; the process ends with its message. */
    load(options: OptionValues<Table> & CommonOptionValues): Promise<readonly Tool<Context>[]>;
  };
  readonly resources?: readonly Resource<Context>[];
  readonly prompts?: readonly Prompt<Context>[];
  /**
   * Opens the context in the background as soon as a client has seen the tools, if it takes long to start. Default: on
   * the first call that needs it.
   */
  readonly warm?: boolean;
  /** Builds the context, on the first call that needs it; opens nothing that the first call does not need. */
  open(opening: Opening<Table>): Awaitable<Context>;
  /** Releases what the context holds; it has at most 2 seconds. */
  close?(context: Context): Awaitable<void>;
}

/** A bundled server, whose tools, resources and prompts are loaded with the first call that needs them. */
export interface LazyServer<Context, Table extends OptionTable = OptionTable>
  extends Omit<ServerDefinition<Context, Table>, "tools" | "prompts" | "resources"> {
  readonly tools: readonly LazyTool<Context>[];
  readonly resources?: readonly LazyResource<Context>[];
  readonly prompts?: readonly LazyPrompt<Context>[];
}

/** What can be run. */
export type Servable<Context, Table extends OptionTable = OptionTable> =
  | ServerDefinition<Context, Table>
  | LazyServer<Context, Table>;

/** Any server, for code that treats all alike. */
// biome-ignore lint/suspicious/noExplicitAny: a server's context is nobody's business but its own; see docs/decisions.
export type AnyServer = ServerDefinition<any, any>;

/** Any server that can be run. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyServable = Servable<any, any>;

/** Returns its argument and infers the types. */
export function defineServer<Context, const Table extends OptionTable>(
  definition: ServerDefinition<Context, Table>,
): ServerDefinition<Context, Table> {
  return definition;
}

/** The Agent Skills of a package (agentskills.io, "Specification"): folders with a SKILL.md each. */
export interface Skill {
  /** The folder's name, which is also the `name` of its frontmatter. */
  readonly name: string;
  /** The files of the folder, SKILL.md among them; `path` is below the folder, with `/`. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}
