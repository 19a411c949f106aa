import type { DirectoryAllowlist } from "@refmcp/boundary";
import { HARD_ANSWER_CHARS, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type { CommonOptionValues } from "../define/common-options.ts";
import type { OptionTable, OptionValues } from "../define/options.ts";
import type { LazyServer, Outline, ServerDefinition } from "../define/server.ts";
import { namesOf, type ToolOutline } from "../define/tool.ts";
import type { Listener } from "../engine/service.ts";
import type { Log } from "../log.ts";
import { ClientRoots } from "./roots.ts";

/** What a server runs with, in addition to its definition. */
export interface RuntimeParts<Table extends OptionTable> {
  readonly options: OptionValues<Table> & CommonOptionValues;
  readonly allowlist: DirectoryAllowlist;
  readonly log: Log;
  /** Default: the process's. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Signs state that is sent through clients; processes with the same clients share the key. Default: a new key. */
  readonly stateKey?: Uint8Array | undefined;
}

/**
 * A running server: its outline, its options, its code (loaded by the first call that needs it), its context (opened
 * then) and its listeners. All connections of a process share it.
 */
export class Runtime<Context, Table extends OptionTable> {
  readonly definition: LazyServer<Context, Table>;
  readonly options: OptionValues<Table> & CommonOptionValues;
  readonly allowlist: DirectoryAllowlist;
  readonly log: Log;
  /** The client's roots; undefined unless the server accesses directories and `--roots` is not `off`. */
  readonly roots: ClientRoots | undefined;
  /** The limits of each call: its answer's characters, its time, and its time as a task. */
  readonly callLimits: {
    readonly budget: number;
    readonly timeoutMs: number;
    readonly taskMs: number;
  };
  /** The tools that these options offer. */
  readonly tools: readonly ToolOutline[];
  /** They by all their names. */
  readonly toolsByName: ReadonlyMap<string, ToolOutline>;
  readonly #parts: RuntimeParts<Table>;
  readonly #listeners = new Set<Listener>();
  #isClosed = false;
  #closeController = new AbortController();
  #stateKey: Uint8Array | undefined;
  #loadPromise: Promise<ServerDefinition<Context, Table>> | undefined;
  loadedServer: ServerDefinition<Context, Table> | undefined;
  #context: Promise<Context> | undefined;
  openContext: { readonly context: Context } | undefined;

  constructor(definition: LazyServer<Context, Table>, parts: RuntimeParts<Table>) {
    this.definition = definition;
    this.options = parts.options;
    this.allowlist = parts.allowlist;
    this.log = parts.log;
    this.#parts = parts;
    this.#stateKey = parts.stateKey;
    const { clientRoots, maxAnswerChars, timeoutMs, taskTimeoutMs } = parts.options;
    const asksForRoots = definition.directories !== undefined && clientRoots !== "off";
    this.roots = asksForRoots ? new ClientRoots(parts.allowlist, parts.log) : undefined;
    const budget = Math.min(maxAnswerChars, HARD_ANSWER_CHARS);
    this.callLimits = { budget, timeoutMs, taskMs: taskTimeoutMs };
    this.tools = offeredTools(definition, parts.options);
    this.toolsByName = new Map(
      this.tools.flatMap((tool) => namesOf(tool).map((name) => [name, tool] as const)),
    );
    this.allowlist.onChange(this.#resourcesChanged);
  }

  get stateKey(): Uint8Array {
    this.#stateKey ??= crypto().randomBytes(32);
    return this.#stateKey;
  }

  /** The server's code. If loading fails, the next call tries again. */
  readonly load = (): Promise<ServerDefinition<Context, Table>> => {
    this.#loadPromise ??= this.#load();
    return this.#loadPromise;
  };

  async #load(): Promise<ServerDefinition<Context, Table>> {
    try {
      this.loadedServer = await this.definition.load();
      return this.loadedServer;
    } catch (error) {
      this.#loadPromise = undefined;
      throw error;
    }
  }

  /** The context, opened on the first call. If opening fails, the next call tries again. */
  readonly open = (): Promise<Context> => {
    if (this.#isClosed)
      return Promise.reject(new ToolError("cancelled", "The server is shutting down."));
    this.#context ??= this.#open();
    return this.#context;
  };

  async #open(): Promise<Context> {
    const { signal } = this.#closeController;
    try {
      const server = await this.load();
      const context = await server.open({
        options: this.options,
        allowlist: this.allowlist,
        log: this.log,
        env: this.#parts.env ?? process.env,
        signal,
        offers: (name) => this.tools.some((tool) => tool.name === name),
        notifyChanged: (uri) => this.#notify((listener) => listener.resourceChanged(uri)),
        resourcesChanged: this.#resourcesChanged,
      });
      if (!signal.aborted) this.openContext = { context };
      return context;
    } catch (error) {
      if (!signal.aborted) this.#context = undefined;
      throw error;
    }
  }

  /** @throws the reason why calls cannot be served now. */
  async ready(signal: AbortSignal): Promise<void> {
    const context = await this.open();
    await this.loadedServer?.ready?.(context, signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.reset();
  }

  /** Closes the context; the next call opens a new one. For a context that an error may have left half changed. */
  async reset(): Promise<void> {
    const contextPromise = this.#context;
    if (contextPromise === undefined) return;
    this.#context = undefined;
    this.openContext = undefined;
    this.#closeController.abort();
    this.#closeController = new AbortController();
    const context = await contextPromise.catch(() => undefined);
    if (context !== undefined) await this.loadedServer?.close?.(context);
  }

  /** Adds a listener; returns the function that removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly #resourcesChanged = (): void => {
    if (this.definition.resources.length > 0)
      this.#notify((listener) => listener.resourcesChanged());
  };

  #notify(call: (listener: Listener) => void): void {
    for (const listener of this.#listeners) call(listener);
  }
}

/**
 * The tools that exist with these options. `--toolsets` and `--tools` add up; without any of them, the default tools are
 * offered. `--exclude-tools`, `--read-only` and a missing flag (`needs`) then remove tools.
 */
function offeredTools(
  { toolsets = {}, slim = [], tools }: Outline,
  options: CommonOptionValues & Readonly<Record<string, unknown>>,
): ToolOutline[] {
  const isPlain = options.toolsets.length === 0 && options.tools.length === 0;
  const toolsetNames = new Set(isPlain ? ["default"] : options.toolsets);
  const isNamed = (tool: ToolOutline, names: readonly string[]) =>
    namesOf(tool).some((name) => names.includes(name));
  const isChosen = (tool: ToolOutline) =>
    toolsetNames.has("all") ||
    toolsetNames.has(tool.toolset ?? "default") ||
    (toolsetNames.has("default") && toolsets[tool.toolset ?? ""]?.default === true) ||
    (toolsetNames.has("slim") && slim.includes(tool.name)) ||
    isNamed(tool, options.tools);
  return tools.filter(
    (tool) =>
      isChosen(tool) &&
      !isNamed(tool, options.excludeTools) &&
      !(options.readOnly && tool.effect !== "read") &&
      (tool.needs === undefined || options[tool.needs] === true),
  );
}
