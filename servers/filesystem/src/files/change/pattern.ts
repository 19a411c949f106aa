import { lstatSync } from "node:fs";
import { join } from "node:path";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { orRefused, withDirectory } from "../open-path.ts";
import { compileCaptures, hasWildcard } from "../search/glob.ts";
import { walk } from "../tree/walk.ts";
import { compileTemplate } from "./template.ts";

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
 * @returns the matches, and the number of captures
 * @throws ToolError `not_found` if nothing matches, `too_large` for more than `max`, `invalid` for a bad pattern
 */
export async function matches(
  { guard }: Files,
  source: string,
  { max, signal }: { max: number; signal?: AbortSignal | undefined },
): Promise<{ found: readonly Match[]; count: number } | undefined> {
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
  const { match, count } = compileCaptures(rest.join("/"));
  const depth = rest.some((part) => part.includes("**")) ? Number.POSITIVE_INFINITY : rest.length;
  const exclude = {
    hides: () => false,
    hidesContents: (path: string) => path.split("/").length >= depth,
  };
  const found: Match[] = [];
  await withDirectory(guard, base, (root) =>
    walk(guard, root, { signal, exclude }, ({ path, name, type, parent }) => {
      const isWanted = directoriesOnly ? type === "directory" : type === "file" || type === "link";
      const captures = isWanted ? match(path) : undefined;
      if (captures === undefined) return undefined;
      const stat = lstatSync(parent.entry(name), { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      found.push({ path: join(root.path, path), name, captures, modified: stat.mtime });
      return found.length > max ? "stop" : undefined;
    }),
  );
  if (found.length > max)
    throw failure("too_many_files", `More than ${grouped(max)} files match ${named(source)}.`, {
      hint: "Use a narrower pattern, or several calls.",
    });
  if (found.length === 0) throw noMatch(source, directoriesOnly);
  return { found, count };
}

function noMatch(source: string, directoriesOnly: boolean) {
  const kind = directoriesOnly ? "directory" : "file";
  const special = /[[({]/.exec(source)?.[0];
  const literal =
    special === undefined ? "" : ` In a pattern, \\${special} is a ${special} in a name.`;
  const directories = directoriesOnly
    ? ""
    : " With a slash at its end, a pattern matches directories.";
  return failure("no_match_source", `No ${kind} matches ${named(source)}.`, {
    hint: `List the directory, or find names with search_files.${literal}${directories}`,
  });
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
  const matched = await matches(files, source, { max, signal });
  if (matched === undefined) return undefined;
  const { found, count } = matched;
  const isInto = await isDirectory(files, destination);
  const fill = compileTemplate(isInto ? `${destination}/$0` : destination, count);
  const pairs = found.map(({ path, ...values }, index) => ({
    from: path,
    to: fill({ ...values, index }),
  }));
  if (pairs.length > 1 && pairs.every(({ to }) => to === pairs[0]?.to)) {
    const what = `${named(destination)} is one path for ${grouped(pairs.length)} files.`;
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
