import { resolve } from "node:path";

/** The scope of a configuration value. */
type ConfigScope = "system" | "global" | "local" | "worktree" | "unknown";

/** One value of git's configuration, as `git config --list -z --show-scope --show-origin` reports it. */
export interface ConfigEntry {
  readonly scope: ConfigScope;
  /** The file that sets it. */
  readonly origin: string;
  /** Section and name in lower case, the subsection in the middle unchanged. */
  readonly key: string;
  /** A key without `=` means true. */
  readonly value: string;
}

const SCOPES: ReadonlySet<string> = new Set(["system", "global", "local", "worktree"]);

function isScope(text: string): text is ConfigScope {
  return SCOPES.has(text);
}

/**
 * Parses `git config --list -z --show-scope --show-origin`: `scope NUL origin NUL key LF value NUL`, in the order that git
 * applies them. The server's own settings (scope `command`) are omitted.
 */
export function parseConfig(output: Buffer): ConfigEntry[] {
  const fields = output.toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [scope = "", origin = "", text = ""] = fields.slice(index, index + 3);
    if (scope === "command") continue;
    const file = resolve(origin.replace(/^file:/, ""));
    entries.push(entryOf(isScope(scope) ? scope : "unknown", file, text));
  }
  return entries;
}

/** Parses `git config --file <origin> --list -z`, which reports no scope. */
export function parseFile(output: Buffer, scope: ConfigScope, origin: string): ConfigEntry[] {
  const texts = output.toString("utf8").split("\0").slice(0, -1);
  return texts.map((text) => entryOf(scope, origin, text));
}

/** `key LF value`. A subsection cannot contain a line break (git refuses it), so the first one ends the key. */
function entryOf(scope: ConfigScope, origin: string, text: string): ConfigEntry {
  const end = text.indexOf("\n");
  if (end === -1) return { scope, origin, key: text, value: "true" };
  return { scope, origin, key: text.slice(0, end), value: text.slice(end + 1) };
}

/** Whether it comes from the user's or the system's configuration, not the repository's. */
export function isOwn(entry: ConfigEntry): boolean {
  return entry.scope === "system" || entry.scope === "global";
}

/** The effective value of a key (the last one wins) among the entries that `where` accepts. */
export function lastValue(
  entries: readonly ConfigEntry[],
  key: string,
  where: (entry: ConfigEntry) => boolean = () => true,
): string | undefined {
  return entries.findLast((entry) => entry.key === key && where(entry))?.value;
}

/** `remote.origin.url` → `["remote", "origin", "url"]`; the middle is empty if there is no subsection. */
export function splitKey(key: string): [section: string, subsection: string, name: string] {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  return [key.slice(0, first), first === last ? "" : key.slice(first + 1, last), key.slice(last + 1)];
}

/** Parses a boolean as git does: yes, on, true and any number but 0 are true. */
export function isTrue(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(true|yes|on|[1-9]\d*)$/i.test(value);
}
