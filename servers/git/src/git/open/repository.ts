import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import {
  type ConfigEntry,
  type ConfigPair,
  type Configuration,
  filtersNotRun,
  isTrue,
  lastValue,
  ownFiles,
  readConfig,
  realOf,
  STANDING,
  stateOf,
} from "../run/config.ts";
import { failure, failureOf, outside } from "../run/errors.ts";
import { askKept, MAX_KEPT_BYTES } from "../run/kept-cat-file.ts";
import { type GitResult, together } from "../run/run-git.ts";
import { linesOf, pathText, records } from "../run/text.ts";
import { type Location, refuseInTree, submodulesInIndex } from "./locate.ts";
import {
  type Arguments,
  environmentOf,
  type GitOptions,
  harmless,
  type Machine,
  type RunOptions,
  type Settings,
  spawnGit,
} from "./machine.ts";
import { listingOf, remember } from "./refs-listing.ts";
import { refuseAmbiguous } from "./revisions.ts";
import { submoduleOverrides } from "./submodules.ts";

export interface Caller {
  readonly signal: AbortSignal;
  /** How many characters the response should stay within. */
  readonly budget: number;
  /** Asks the user; rejects if they do not agree. */
  confirm(question: string): Promise<void>;
  /** Reports progress: how much of `total` is done, and what git is doing. */
  progress(done: number, total: number, note: string): void;
}

export type Budget = Pick<Caller, "budget">;

/** What is known about a repository after its configuration was read. */
interface Prepared
  extends Pick<Configuration, "includes" | "state" | "isStale">,
    Pick<Settings, "overrides" | "filters"> {
  readonly config: readonly ConfigEntry[];
  readonly worktree: string | undefined;
  readonly submodules: readonly string[];
}

/** An object that a name refers to. */
export interface Named {
  readonly oid: string;
  readonly type: string;
  readonly size: number;
  /** If it was read with the facts. */
  readonly content?: Buffer | undefined;
}

/** What is known before the configuration is read. */
interface Given {
  /**
   * The same repository, without the settings for its submodules: commands that change the working tree may look into
   * submodules, so this one secures those as well.
   */
  readonly plain?: Repository;
  /** A submodule's working tree, whatever its configuration says. */
  readonly worktree?: string;
}

const UNDO_MS = 20_000;
const MAX_CONFIGURATIONS = 50;
const MAX_CONTENT_BYTES = 64 * 1024 * 1024;
/**
 * Names that a kept process can't look up: it keeps the index (`:path`), and would have to be ended in a search (`^{/text}`) or
 * past the end of a reflog (`@{9}`).
 */
const CHANGING = /^:|\^\{\/|@\{|[\0\n\r]/;

/**
 * A repository during one call. Its git processes run in the hardened environment, on exactly this git directory, and end
 * with the call.
 */
export class Repository {
  readonly location: Location;
  readonly signal: AbortSignal;
  readonly machine: Machine;
  readonly #given: Given;
  #prepared: Promise<Prepared>;

  constructor(machine: Machine, location: Location, signal: AbortSignal, given: Given = {}) {
    this.machine = machine;
    this.location = location;
    this.signal = signal;
    this.#given = given;
    // Commands that don't need the configuration don't wait for it.
    this.#prepared = this.#prepare();
    // The caller of a command gets the error.
    this.#prepared.catch(() => undefined);
  }

  get options(): GitOptions {
    return this.machine.options;
  }

  async prepared(): Promise<Prepared> {
    if ((await this.#prepared).isStale()) this.#prepared = this.#prepare();
    return this.#prepared;
  }

  /**
   * The working tree's root.
   *
   * @throws ToolError `invalid`, code `bare_repository`
   */
  async worktree(): Promise<string> {
    const { worktree } = await this.prepared();
    if (worktree !== undefined) return worktree;
    throw failure(
      "bare_repository",
      "This is a bare repository: it has no working tree and no index.",
    );
  }

  /** Whether a file that the configuration names may be read. */
  async isInside(path: string): Promise<boolean> {
    const { worktree } = await this.prepared();
    return this.options.guard.contains(realOf(resolve(worktree ?? this.location.gitDir, path)));
  }

  /** Runs git; resolves with any exit code. */
  async run(args: Arguments, options: RunOptions = {}): Promise<GitResult> {
    const prepared = await this.prepared();
    return this.#spawn(args, options, prepared.worktree, prepared.overrides);
  }

  /** Runs git to undo unfinished work, even if the call was cancelled; resolves with any exit code. */
  async undo(args: Arguments): Promise<GitResult> {
    const { signal, end } = startDeadline(UNDO_MS);
    return this.#with(signal).run(args).finally(end);
  }

  #with(signal: AbortSignal): Repository {
    const { plain, ...given } = this.#given;
    const other = plain === undefined ? given : { ...given, plain: plain.#with(signal) };
    return new Repository(this.machine, this.location, signal, other);
  }

  /**
   * Runs git and returns its stdout.
   *
   * @param doing for the error, "git could not …": `read the log`
   * @throws ToolError if the exit code is not 0 (unless the output was cut)
   */
  async output(args: Arguments, doing: string, options: RunOptions = {}): Promise<Buffer> {
    const result = await this.run(args, options);
    if (result.code !== 0 && !result.cut) throw failureOf(result, doing);
    return result.stdout;
  }

  /** The lines that git prints, without empty ones. */
  async lines(args: Arguments, doing: string): Promise<string[]> {
    return linesOf(await this.output(args, doing));
  }

  /** The NUL-separated paths that git prints. */
  async paths(args: Arguments, doing: string): Promise<string[]> {
    return records(await this.output(args, doing)).map(pathText);
  }

  /** What git prints as one value, such as an object id. */
  async value(args: Arguments, doing: string, options: RunOptions = {}): Promise<string> {
    return (await this.output(args, doing, options)).toString("utf8").trim();
  }

  /**
   * Looks names up in the kept `git cat-file`, or in a new one where that would not see changes. Names are passed on stdin, so
   * none can be an option.
   *
   * @returns in order; undefined for an unknown name
   * @throws ToolError `ambiguous_name` if one is a branch and a tag
   */
  async lookUp(names: readonly string[]): Promise<readonly (Named | undefined)[]> {
    const look = async (all: readonly string[]) =>
      (all.some((name) => CHANGING.test(name)) ? undefined : await this.#ask("info", all)) ??
      (await this.#lookUp(all));
    const { found, stderr } = await look(names);
    await refuseAmbiguous(stderr, async (more) => (await look(more)).found);
    return found;
  }

  /**
   * Reads objects of at most 4 MiB without a new process.
   *
   * @param names object ids, and what is reached from them (`<oid>~2`)
   * @returns in order, undefined for a missing one; undefined if they can't be read that way
   */
  async objects(names: readonly string[]): Promise<readonly (Named | undefined)[] | undefined> {
    return (await this.#ask("contents", names))?.found;
  }

  /** The content of a blob or tag; see `output`. */
  async content(
    { oid, type, size }: Named,
    doing: string,
    options: RunOptions = {},
  ): Promise<Buffer> {
    const [found] = (size <= MAX_KEPT_BYTES ? await this.objects([oid]) : undefined) ?? [];
    return found?.content ?? this.output(["cat-file", type, oid], doing, options);
  }

  /** The same in parts, until `take` returns false. A large object is never in memory. */
  async stream(object: Named, doing: string, take: (chunk: Buffer) => boolean): Promise<void> {
    const options = { maxBytes: Number.MAX_SAFE_INTEGER, onStdout: take };
    const small = await this.content(object, doing, options);
    if (small.length > 0) take(small);
  }

  /** The contents of objects by their ids. Those that are missing, or beyond 64 MiB in all, are left out. */
  async contents(oids: readonly string[]): Promise<Map<string, Buffer>> {
    const names = [...new Set(oids)];
    let left = MAX_CONTENT_BYTES;
    const { found } = (await this.#ask("info", names)) ?? (await this.#lookUp(names));
    const wanted: Named[] = [];
    for (const object of found) {
      if (object === undefined || object.size > left) continue;
      left -= object.size;
      wanted.push(object);
    }
    const read = await this.objects(wanted.map((object) => object.oid));
    const contents = new Map<string, Buffer>();
    for (const [index, object] of wanted.entries())
      contents.set(
        object.oid,
        read?.[index]?.content ?? (await this.content(object, "read the objects")),
      );
    return contents;
  }

  /** What `git for-each-ref` prints. It is not run again with the same arguments until refs or the configuration change. */
  async refs(args: Arguments, doing: string): Promise<Buffer> {
    const { state } = await this.prepared();
    const list = () => this.output(["for-each-ref", ...args], doing);
    return listingOf(this.machine.listings, this.location, state, JSON.stringify(args), list);
  }

  /** The commit of HEAD; undefined on an unborn branch. */
  async head(): Promise<string | undefined> {
    const [head] = await this.lookUp(["HEAD^{commit}"]);
    return head?.oid;
  }

  async #lookUp(
    names: readonly string[],
  ): Promise<{ found: (Named | undefined)[]; stderr: string }> {
    // No name has a line break; nothing is found for an empty one.
    const input = names.map((name) => `${/[\0\n\r]/.test(name) ? "" : name}\n`).join("");
    const result = await this.#spawnPlain(["cat-file", "--batch-check"], { input });
    const { stderr } = result;
    if (result.code !== 0 && names.length > 1) {
      // git exits if a name goes beyond the end of a reflog: the names are then looked up one by one.
      const each = await together(names.map((name) => this.#lookUp([name])));
      return {
        found: each.flatMap(({ found }) => found),
        stderr: each.map((one) => one.stderr).join(""),
      };
    }
    if (result.code !== 0 && !/^fatal: log for .* only (has|goes)/m.test(stderr))
      throw failureOf(result, "look up a revision");
    const lines = result.stdout.toString("utf8").split("\n");
    const found = names.map((_, index) => {
      const [, oid, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(lines[index] ?? "") ?? [];
      return oid === undefined || type === undefined
        ? undefined
        : { oid, type, size: Number(size) };
    });
    return { found, stderr };
  }

  /** Asks the repository's kept `git cat-file`; undefined if it can't answer. */
  async #ask(what: "info" | "contents", names: readonly string[]) {
    if (names.length === 0) return { found: [], stderr: "" };
    const { overrides, worktree, state } = await (this.#given.plain ?? this).prepared();
    const { gitDir, commonDir, objects } = this.location;
    const { cwd, env: variables } = this.#place(worktree);
    const env = environmentOf(this.machine, { ...variables }, overrides);
    // What git reads once and keeps. Another directory at the same path is another repository.
    const read = [
      ...[cwd, gitDir, commonDir, ...objects].map((directory) => [
        directory,
        stateOf(directory).split(" ", 1),
      ]),
      ...["shallow", join("info", "grafts")].map((file) => stateOf(join(commonDir, file))),
      ...objects.map((directory) => stateOf(join(directory, "pack"))),
    ];
    const { program } = this.machine;
    const kept = {
      place: JSON.stringify([program, gitDir]),
      state: JSON.stringify([state, read, env]),
    };
    return askKept({ ...kept, program, cwd, env }, what, names, this.signal);
  }

  /** Reads the configuration, which itself runs nothing, and checks where it leads. */
  async #prepare(): Promise<Prepared> {
    const { plain } = this.#given;
    if (plain !== undefined) {
      const prepared = await plain.prepared();
      return {
        ...prepared,
        overrides: [...prepared.overrides, ...(await submoduleOverrides(plain))],
      };
    }
    const { guard } = this.options;
    const { configuration, overrides, filters } = await this.#settings();
    const { entries, includes, state, isStale } = configuration;
    const worktree = this.#given.worktree ?? (await this.#worktreeOf(entries));
    if (worktree !== undefined) refuseInTree(worktree, this.location, includes);
    // From git 2.54 on the refs may be elsewhere: reftable:///path.
    const [, refs] =
      /^[^:]*:\/\/(.*)$/s.exec(lastValue(entries, "extensions.refstorage") ?? "") ?? [];
    if (refs !== undefined && !guard.contains(realOf(resolve(this.location.gitDir, refs))))
      throw outside("ref storage (extensions.refStorage)", guard);
    const submodules = worktree === undefined ? [] : await this.#submodules(entries);
    return { includes, state, isStale, submodules, config: entries, overrides, filters, worktree };
  }

  /** The configuration, read again if one of its files has changed since another call read it. */
  async #settings(): Promise<Settings> {
    const { gitDir, commonDir } = this.location;
    const { guard, filters, env } = this.options;
    const known = this.machine.configurations.get(gitDir);
    const isInside = (path: string) => guard.contains(realOf(path));
    if (known?.configuration.includes.every(isInside) && !known.configuration.isStale())
      return known;
    const read = (args: readonly string[]) => this.#spawnPlain(args);
    const files = [
      ...ownFiles(env, this.machine.system),
      join(commonDir, "config"),
      join(gitDir, "config.worktree"),
    ];
    const heads = [gitDir, commonDir].flatMap((directory) => [
      join(directory, "HEAD"),
      join(directory, "reftable", "tables.list"),
    ]);
    const configuration = await readConfig(read, guard, files, heads);
    const settings = {
      configuration,
      overrides: harmless(this.options, configuration.entries, configuration.dormant),
      filters: filtersNotRun(configuration.entries, filters),
    };
    if (configuration.isLasting)
      remember(this.machine.configurations, gitDir, settings, MAX_CONFIGURATIONS);
    return settings;
  }

  /** The working tree according to `core.worktree` and `core.bare`; its real path must be inside the allowed directories. */
  async #worktreeOf(entries: readonly ConfigEntry[]): Promise<string | undefined> {
    const { gitDir, commonDir, worktree } = this.location;
    if (gitDir !== commonDir) return worktree;
    const elsewhere = lastValue(entries, "core.worktree");
    if (elsewhere === undefined)
      return isTrue(lastValue(entries, "core.bare")) ? undefined : worktree;
    const real = await realpath(resolve(gitDir, elsewhere)).catch(() => undefined);
    if (real !== undefined && this.options.guard.contains(real)) return real;
    throw outside("working tree (core.worktree)", this.options.guard);
  }

  /**
   * The submodules of the index, which is checked again if it has changed.
   *
   * @throws ToolError `corrupt_index` if one of its paths leads out of the working tree
   */
  async #submodules(config: readonly ConfigEntry[]): Promise<readonly string[]> {
    const file = join(this.location.gitDir, "index");
    const state = stateOf(file);
    const known = this.machine.indexes.get(file);
    if (known?.state === state) return known.submodules;
    const oidBytes = lastValue(config, "extensions.objectformat") === "sha256" ? 32 : 20;
    const list = () => this.#spawnPlain(["ls-files", "--stage", "-z"]);
    const submodules = await submodulesInIndex(file, oidBytes, list);
    this.machine.indexes.set(file, { state, submodules });
    return submodules;
  }

  /** Runs git before the configuration is known. */
  #spawnPlain(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    return this.#spawn(args, options, this.location.worktree, STANDING);
  }

  #spawn(
    args: Arguments,
    options: RunOptions,
    worktree: string | undefined,
    overrides: readonly ConfigPair[],
  ): Promise<GitResult> {
    const applying = args.filter((arg): arg is string => typeof arg === "string");
    return spawnGit(this.machine, this.#place(worktree), overrides, applying, options);
  }

  #place(worktree: string | undefined) {
    const { gitDir, commonDir } = this.location;
    const env = {
      GIT_DIR: gitDir,
      ...(commonDir === gitDir ? {} : { GIT_COMMON_DIR: commonDir }),
      ...(worktree === undefined ? {} : { GIT_WORK_TREE: worktree }),
    };
    return { cwd: worktree ?? gitDir, signal: this.signal, env };
  }
}
