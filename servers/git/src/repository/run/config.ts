import { resolve } from "node:path";

/** One value of git's configuration, as `git config --list -z --show-scope --show-origin` reports it. */
export interface ConfigEntry {
  /** Whether it comes from the user's or the system's configuration, not the repository's. */
  readonly own: boolean;
  /** The file that sets it. */
  readonly origin: string;
  /** Section and name in lower case, the subsection in the middle unchanged. */
  readonly key: string;
  /** A key without `=` means true. */
  readonly value: string;
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
    entries.push(entryOf(["system", "global"].includes(scope), file, text));
  }
  return entries;
}

/** Parses `git config --file <origin> --list -z`, which reports no scope. */
export function parseFile(output: Buffer, own: boolean, origin: string): ConfigEntry[] {
  const texts = output.toString("utf8").split("\0").slice(0, -1);
  return texts.map((text) => entryOf(own, origin, text));
}

/** `key LF value`. A subsection cannot contain a line break (git refuses it), so the first one ends the key. */
function entryOf(own: boolean, origin: string, text: string): ConfigEntry {
  const end = text.indexOf("\n");
  if (end === -1) return { own, origin, key: text, value: "true" };
  return { own, origin, key: text.slice(0, end), value: text.slice(end + 1) };
}

/** Accepts the user's and the system's values. */
export const isOwn = ({ own }: ConfigEntry) => own;

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
