import { lstatSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { digits, oneLine } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { orRefused, withDirectory } from "../open-path.ts";
import { compileCaptures, hasWildcard } from "../search/glob.ts";
import { walk } from "../tree/walk.ts";

/** Maximum files that the patterns of a call may match. */
export const MAX_PLANNED = 5_000;

export interface Pair {
  readonly from: string;
  readonly to: string;
}

interface PairRequest {
  readonly source: string;
  readonly destination: string;
  readonly signal?: AbortSignal | undefined;
}

interface Match {
  readonly path: string;
  readonly name: string;
  readonly captures: readonly string[];
  readonly modified: Date;
}

/**
 * The entries that a pattern matches, in the order of their paths; undefined if `source` is a path and not a pattern,
 * because it has no wildcards or exists under exactly this name. Matches files and symlinks or, with a slash at the
 * end, only directories; hidden names too, but not `.git`.
 *
 * @throws ToolError `not_found` if nothing matches, `too_large` for more than `max`, `invalid` for a bad pattern
 */
export async function matches(
  { guard }: Files,
  source: string,
  { max, signal }: { max: number; signal?: AbortSignal | undefined },
): Promise<readonly Match[] | undefined> {
  // An existing name with special characters, such as "Invoice (1).pdf", is not a pattern.
  if (!hasWildcard(source) || (await guard.exists(source).catch(orRefused)) === true)
    return undefined;
  const pattern = process.platform === "win32" ? source.replaceAll("\\", "/") : source;
  const components = pattern.split("/");
  const first = components.findIndex(hasWildcard);
  if (first < 0) return undefined;
  const directoriesOnly = pattern.endsWith("/");
  const base = components.slice(0, first).join("/") || (pattern.startsWith("/") ? "/" : ".");
  const rest = components.slice(first, directoriesOnly ? -1 : undefined);
  const match = compileCaptures(rest.join("/"));
  const depth = rest.some((part) => part.includes("**")) ? Number.POSITIVE_INFINITY : rest.length;
  const exclude = {
    hides: () => false,
    hidesContents: (path: string) => path.split("/").length >= depth,
  };
  const results: Match[] = [];
  await withDirectory(guard, base, (root) =>
    walk(guard, root, { signal, exclude }, ({ path, name, type, parent }) => {
      const isWanted = directoriesOnly ? type === "directory" : type === "file" || type === "link";
      const captures = isWanted ? match(path) : undefined;
      if (captures === undefined) return undefined;
      const stat = lstatSync(parent.entry(name), { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      results.push({ path: join(root.path, path), name, captures, modified: stat.mtime });
      return results.length > max ? "stop" : undefined;
    }),
  );
  if (results.length > max)
    throw failure("too_many_files", `More than ${digits(max)} files match ${named(source)}.`, {
      hint: "Use a narrower pattern, or several calls.",
    });
  if (results.length === 0) throw noMatch(source, directoriesOnly);
  return results;
}

function noMatch(source: string, directoriesOnly: boolean) {
  const special = /[[{]/.exec(source)?.[0] ?? "*";
  const hint = `List the directory, or find names with search_files. In a pattern, \\${special} is a ${special} in a name, and with a slash at its end it matches directories.`;
  const kind = directoriesOnly ? "directory" : "file";
  return failure("no_match_source", `No ${kind} matches ${named(source)}.`, { hint });
}

/**
 * The entries that a pattern matches, each with its destination; undefined if `source` is a path.
 *
 * @throws as `matches`; ToolError `invalid` for a bad template, or one destination for many files
 */
export async function matchedPairs(
  files: Files,
  { source, destination, signal }: PairRequest,
  max: number,
): Promise<Pair[] | undefined> {
  const entries = await matches(files, source, { max, signal });
  if (entries === undefined) return undefined;
  const isInto = await isDirectory(files, destination);
  const template = isInto ? `${destination}/$0` : destination;
  const pairs = entries.map(({ path, ...values }, index) => {
    return { from: path, to: filled(template, { ...values, index }) };
  });
  if (pairs.length > 1 && pairs.every(({ to }) => to === pairs[0]?.to)) {
    const what = `${named(destination)} is one path for ${digits(pairs.length)} files.`;
    const hint = isInto
      ? "They have the same name: write $1 or {n} in the destination."
      : `To put them into it, write ${oneLine(destination)}/$0; to number them, write {n}.`;
    throw failure("bad_template", what, { hint });
  }
  const { guard } = files;
  return Promise.all(pairs.map(async ({ from, to }) => ({ from, to: await guard.resolve(to) })));
}

/** Whether a destination is a directory to move into: it exists, or ends with a slash. */
async function isDirectory({ guard }: Files, destination: string): Promise<boolean> {
  if (/[/\\]$/.test(destination)) return true;
  if (/[${]/.test(destination)) return false;
  const directory = await guard.openDirectory(destination).catch(orRefused);
  await directory?.close();
  return directory !== undefined;
}

const PLACEHOLDER = /\$(\$|\d{1,2})|\{([^{}]*)\}/g;
const ALLOWED =
  "$0, $1 …, $$, {name}, {stem}, {ext}, each also as {name:lower} or {name:upper}, {n} or {n:001} for a number, and {mtime:yyyy-MM-dd} (yyyy, MM, dd, HH, mm)";

/** What a template is filled in with: a file's name, its captures, its number from 0, and when it was last modified. */
interface TemplateValues {
  readonly name: string;
  readonly captures: readonly string[];
  readonly index: number;
  readonly modified: Date;
}

/**
 * Fills in the destination of a pattern: `$1`, `$2` … are its captures, `$0` and `{name}` the whole name, `$$` a dollar
 * sign, `{stem}` the name without `{ext}`, its extension, `{n}` counts the files, and `{mtime:yyyy-MM}` is the time of
 * the last modification in local time.
 *
 * @throws ToolError `invalid` for an unknown placeholder
 */
function filled(template: string, values: TemplateValues): string {
  return template.replace(PLACEHOLDER, (whole, digits: string | undefined, field = "") => {
    const texts = ["$", values.name, ...values.captures];
    const text =
      digits === undefined
        ? fieldText(field, values)
        : texts[digits === "$" ? 0 : Number(digits) + 1];
    if (text !== undefined) return text;
    const count = values.captures.length;
    const why =
      digits === undefined ? "is unknown" : `is not one of the ${count} captures of source`;
    throw failure("bad_template", `The placeholder ${whole} in destination ${why}.`, {
      hint: `Use ${ALLOWED}.`,
    });
  });
}

function fieldText(field: string, { name, index, modified }: TemplateValues): string | undefined {
  const [, part = "", format = ""] = /^(\w+)(?::(.+))?$/.exec(field) ?? [];
  if (part === "n" && /^\d{0,9}$/.test(format))
    return String(Number(format || "1") + index).padStart(format.length, "0");
  if (part === "mtime") return dateText(modified, format);
  const extension = extname(name);
  const parts = { name, stem: basename(name, extension), ext: extension.slice(1) };
  const text = new Map(Object.entries(parts)).get(part);
  if (format === "lower") return text?.toLowerCase();
  if (format === "upper") return text?.toUpperCase();
  return format === "" ? text : undefined;
}

function dateText(date: Date, format: string): string | undefined {
  const parts = new Map([
    ["yyyy", date.getFullYear()],
    ["MM", date.getMonth() + 1],
    ["dd", date.getDate()],
    ["HH", date.getHours()],
    ["mm", date.getMinutes()],
  ]);
  const text = format.replace(/yyyy|MM|dd|HH|mm/g, (part) =>
    String(parts.get(part)).padStart(part.length, "0"),
  );
  return format === "" || /[a-zA-Z\\]/.test(text) ? undefined : text;
}
