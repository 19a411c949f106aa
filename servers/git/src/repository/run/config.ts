/** Where a value of git's configuration comes from. */
export type ConfigScope = "system" | "global" | "local" | "worktree" | "unknown";

/** One value of git's configuration, as `git config --list -z --show-scope` tells it. */
export interface ConfigEntry {
  readonly scope: ConfigScope;
  /** Section and name in lower case, the subsection in the middle as it stands. */
  readonly key: string;
  /** A key without `=` means true. */
  readonly value: string;
}

const SCOPES: ReadonlySet<string> = new Set(["system", "global", "local", "worktree"]);

function isScope(text: string): text is ConfigScope {
  return SCOPES.has(text);
}

/**
 * Reads `git config --list -z --show-scope`: `scope NUL key LF value NUL`, in the order in which git applies them.
 * What the server itself has set (scope `command`) is left out.
 */
export function parseConfig(output: Buffer): ConfigEntry[] {
  const fields = output.toString("utf8").split("\0");
  const entries: ConfigEntry[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const scope = fields[index] ?? "";
    const text = fields[index + 1] ?? "";
    const key = keyOf(text);
    const value = text.length > key.length ? text.slice(key.length + 1) : "true";
    if (scope === "command") continue;
    entries.push({ scope: isScope(scope) ? scope : "unknown", key, value });
  }
  return entries;
}

/**
 * The key before the value. A subsection cannot hold a line break (git refuses it), so the first one ends the key.
 */
function keyOf(text: string): string {
  const end = text.indexOf("\n");
  return end === -1 ? text : text.slice(0, end);
}

/** Whether the user of this machine wrote it, and not the repository. */
export function isOwn(entry: ConfigEntry): boolean {
  return entry.scope === "system" || entry.scope === "global";
}

/** The value in force of a key (last one wins), among the entries that `where` lets through. */
export function lastValue(
  entries: readonly ConfigEntry[],
  key: string,
  where: (entry: ConfigEntry) => boolean = () => true,
): string | undefined {
  return entries.findLast((entry) => entry.key === key && where(entry))?.value;
}

/** `remote.origin.url` → `["remote", "origin", "url"]`; the middle is empty where there is no subsection. */
export function splitKey(key: string): [section: string, subsection: string, name: string] {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  return [key.slice(0, first), first === last ? "" : key.slice(first + 1, last), key.slice(last + 1)];
}

/** A boolean of git's: yes, on, true, any number but 0; a key without a value. */
export function isTrue(value: string | undefined): boolean {
  if (value === undefined) return false;
  return /^(true|yes|on|[1-9]\d*)$/i.test(value);
}
