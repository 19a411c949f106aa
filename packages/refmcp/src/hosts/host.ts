import type { Launch } from "@refmcp/core/run";

/** The entry of a server in a host's file. */
export type HostEntry = Readonly<Record<string, unknown>>;

/** What a host's entry starts, with the variables in the host's form. */
export interface EntryParts extends Launch {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** The variables that are not secrets. */
  readonly plain: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

type System = "linux" | "darwin" | "win32";

export interface Host {
  readonly title: string;
  /** The source of these facts, and the day on which they were last compared with it (YYYY-MM-DD). */
  readonly source: readonly [url: string, checked: string];
  /**
   * The file with the servers of all projects, the preferred place first. `~` is the home directory, `%X%` a variable.
   * Text before `|` is the folder whose existence shows that the host is installed; default: the file's folder.
   */
  readonly files: Readonly<Record<System, readonly string[]>>;
  /** A variable with the folder to use instead of this one. */
  readonly moved?: readonly [variable: string, folder: string];
  /** The file with the servers of one project, if the host has one. */
  readonly project?: string;
  /** Default: JSON, which may have comments. */
  readonly format?: "toml" | "yaml";
  /** The keys on the way to the servers. Default: `mcpServers` */
  readonly keys?: readonly [string, ...string[]];
  /** The form of an entry. Default: `command`, `args` and `env` */
  readonly entry?: (parts: EntryParts) => HostEntry;
  /** How an entry refers to a variable of the host's environment. Without it, the user pastes a secret. */
  readonly secret?: (name: string) => string;
  /**
   * `roots`: it reports the open project to servers, so that its entry needs no directory. `search`: it searches the
   * tools of servers itself, so that a long list costs little.
   */
  readonly does?: readonly ("roots" | "search")[];
  /** The host's own command that adds a server for all projects; undefined if it cannot add this entry. */
  readonly adds?: (name: string, entry: HostEntry) => readonly string[] | undefined;
  /** Whether `setup` runs it instead of editing the file. */
  readonly isRun?: true;
  /** What the user does afterwards, as a sentence. Default: start a session and look with /mcp */
  readonly restart?: string;
  readonly note?: string;
}
