import type { DirectoryAllowlist } from "@refmcp/boundary";
import { HARD_ANSWER_CHARS, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type { CommonOptionValues } from "../define/common-options.ts";
import type { OptionTable, OptionValues } from "../define/options.ts";
import type { LazyPrompt, Prompt } from "../define/prompt.ts";
import type { LazyResource, Resource } from "../define/resource.ts";
import type { AnyServable, Servable } from "../define/server.ts";
import type { LazyTool, Tool, ToolFacts } from "../define/tool.ts";
import type { Listener } from "../engine/service.ts";
import type { Log } from "../log.ts";
import { ClientRoots } from "./questions/roots.ts";

/**
 * A running server: the definition, its options, the context (opened on first use) and the listening connections. All
 * connections of a process share it.
 */
export class Runtime<Context, Table extends OptionTable> {
  readonly definition: Servable<Context, Table>;
  readonly options: OptionValues<Table> & CommonOptionValues;
  readonly allowed: DirectoryAllowlist;
  readonly log: Log;
  readonly #env: NodeJS.ProcessEnv;
  /** The client's roots; undefined unless the server accesses directories and `--roots` is not `off`. */
  readonly roots: ClientRoots | undefined;
  /** The limits of each call: its answer's characters, its time, and its time as a task. */
  readonly callLimits: {
    readonly budget: number;
    readonly timeoutMs: number;
    readonly taskMs: number;
  };
  readonly tools: readonly (Tool<Context> | LazyTool<Context>)[];
  readonly resources: readonly (Resource<Context> | LazyResource<Context>)[];
  readonly prompts: readonly (Prompt<Context> | LazyPrompt<Context>)[];
  readonly #listeners = new Set<Listener>();
  #isClosed = false;
  #closing = new AbortController();
  #stateKey: Uint8Array | undefined;
  #context: Promise<Context> | undefined;
  opened: { readonly context: Context } | undefined;

  constructor(
    definition: Servable<Context, Table>,
    parts: {
      options: OptionValues<Table> & CommonOptionValues;
      allowed: DirectoryAllowlist;
      log: Log;
      /** Default: the process's. */
      env?: NodeJS.ProcessEnv | undefined;
      /**
       * Signs state that is sent through clients; processes with the same clients share the key. Default: a new key.
       */
      stateKey?: Uint8Array | undefined;
      moreTools?: readonly Tool<Context>[];
    },
  ) {
    this.definition = definition;
    this.options = parts.options;
    this.allowed = parts.allowed;
    this.log = parts.log;
    this.#env = parts.env ?? process.env;
    this.#stateKey = parts.stateKey;
    const { clientRoots, maxAnswerChars, timeoutMs, taskTimeoutMs } = parts.options;
    const asksForRoots = definition.directories !== undefined && clientRoots !== "off";
    this.roots = asksForRoots ? new ClientRoots(parts.allowed, parts.log) : undefined;
    const budget = Math.min(maxAnswerChars, HARD_ANSWER_CHARS);
    this.callLimits = { budget, timeoutMs, taskMs: taskTimeoutMs };
    this.tools = offeredTools<Tool<Context> | LazyTool<Context>>(
      definition,
      parts.options,
      parts.moreTools,
    );
    this.resources = definition.resources ?? [];
    this.prompts = definition.prompts ?? [];
    this.allowed.onChange(() => this.#notify((listener) => listener.resourcesChanged()));
  }

  get stateKey(): Uint8Array {
    this.#stateKey ??= crypto().randomBytes(32);
    return this.#stateKey;
  }

  /** The context, opened on the first call. If opening fails, the next call tries again. */
  readonly open = (): Promise<Context> => {
    if (this.#isClosed)
      return Promise.reject(new ToolError("cancelled", "The server is shutting down."));
    this.#context ??= this.#open();
    return this.#context;
  };

  /** Opens the context after the current answer has been sent; a failure is reported by the first call. */
  warm(): void {
    setImmediate(() => {
      if (!this.#isClosed) this.open().catch(() => undefined);
    });
  }

  async #open(): Promise<Context> {
    const { signal } = this.#closing;
    try {
      const context = await this.definition.open({
        options: this.options,
        allowed: this.allowed,
        log: this.log,
        env: this.#env,
        signal,
        offers: (name) => this.tools.some((tool) => tool.name === name),
        changed: (uri) => this.#notify((listener) => listener.changed(uri)),
        resourcesChanged: () => this.#notify((listener) => listener.resourcesChanged()),
      });
      if (!signal.aborted) this.opened = { context };
      return context;
    } catch (error) {
      if (!signal.aborted) this.#context = undefined;
      throw error;
    }
  }

  /** @throws the reason why calls cannot be served now. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.definition.ready?.(await this.open(), signal);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.reset();
  }

  /** Closes the context; the next call opens a new one. For a context that an error may have left half changed. */
  async reset(): Promise<void> {
    const opening = this.#context;
    if (opening === undefined) return;
    this.#context = undefined;
    this.opened = undefined;
    this.#closing.abort();
    this.#closing = new AbortController();
    const context = await opening.catch(() => undefined);
    if (context !== undefined) await this.definition.close?.(context);
  }

  /** Adds a connection; returns the function that removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(call: (listener: Listener) => void): void {
    for (const listener of this.#listeners) call(listener);
  }
}

/**
 * The tools that exist with these options. `--toolsets` and `--tools` add up; without any of them, the
 * default tools are offered. `--exclude-tools`, `--read-only` and a missing flag (`needs`) then remove tools.
 *
 * @param more tools that an option added; they are always chosen.
 */
function offeredTools<Facts extends ToolFacts>(
  {
    toolsets = {},
    slim = [],
    tools,
  }: Pick<AnyServable, "toolsets" | "slim"> & { readonly tools: readonly Facts[] },
  options: CommonOptionValues & Readonly<Record<string, unknown>>,
  more: readonly Facts[] = [],
): Facts[] {
  const isPlain = options.toolsets.length === 0 && options.tools.length === 0;
  const sets = isPlain ? ["default"] : options.toolsets;
  const isDefault = ({ toolset }: Facts) =>
    toolset === undefined || toolsets[toolset]?.default === true;
  const isChosen = (tool: Facts) =>
    sets.includes("all") ||
    (sets.includes("default") && isDefault(tool)) ||
    (tool.toolset !== undefined && sets.includes(tool.toolset)) ||
    (sets.includes("slim") && slim.includes(tool.name)) ||
    isNamed(tool, options.tools);
  return [...tools.filter(isChosen), ...more].filter(
    (tool) =>
      !isNamed(tool, options.excludeTools) &&
      !(options.readOnly && tool.effect !== "read") &&
      (tool.needs === undefined || options[tool.needs] === true),
  );
}

function isNamed({ name, aliases = [] }: ToolFacts, names: readonly string[]): boolean {
  return names.includes(name) || aliases.some((alias) => names.includes(alias));
}
