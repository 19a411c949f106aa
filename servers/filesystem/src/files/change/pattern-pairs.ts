import { lstatSync } from "node:fs";
import { join } from "node:path";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { compileCaptures, hasWildcard } from "../glob/capture.ts";
import { failure, named } from "../messages.ts";
import { orRefused, placeOf, withDirectory } from "../open-path.ts";
import { walk } from "../tree/walk.ts";
import type { ChangeContext } from "./change-context.ts";
import { compileTemplate } from "./name-template.ts";
import type { Pair } from "./plan.ts";

export interface PatternRequest {
  readonly source: string;
  readonly destination: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The files that a pattern matches, each with its destination; undefined if `source` is a path and not a pattern,
 * because it has no wildcards or exists under exactly this name. Matches files and symlinks or, with a slash at the end, only
 * directories; hidden names too, but not `.git`.
 *
 * @throws ToolError `not_found` if nothing matches, `too_large` for more than `max` files, `invalid` for a bad pattern
 * or template.
 */
export async function matchedPairs(
  context: ChangeContext,
  { source, destination, signal }: PatternRequest,
  max: number,
): Promise<Pair[] | undefined> {
  const { guard } = context;
  if (!hasWildcard(source) || (await isThere(context, source))) return undefined;
  const pattern = process.platform === "win32" ? source.replaceAll("\\", "/") : source;
  const components = pattern.split("/");
  const first = components.findIndex(hasWildcard);
  if (first < 0) return undefined;
  const directoriesOnly = pattern.endsWith("/");
  const base = components.slice(0, first).join("/") || (pattern.startsWith("/") ? "/" : ".");
  const rest = components.slice(first, directoriesOnly ? -1 : undefined);
  const { match, count } = compileCaptures(rest.join("/"));
  const template = (await isDirectory(context, destination)) ? `${destination}/$0` : destination;
  const fill = compileTemplate(template, count);
  const depth = rest.some((part) => part.includes("**")) ? Number.POSITIVE_INFINITY : rest.length;
  const exclude = {
    hides: () => false,
    hidesContents: (path: string) => path.split("/").length >= depth,
  };
  const found: { from: string; to: string }[] = [];
  await withDirectory(guard, base, (root) =>
    walk(guard, root, { signal, exclude }, ({ path, name, type, parent }) => {
      const isWanted = directoriesOnly ? type === "directory" : type === "file" || type === "link";
      const captures = isWanted ? match(path) : undefined;
      if (captures === undefined) return undefined;
      const stat = lstatSync(parent.entry(name), { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      found.push({
        from: join(root.path, path),
        to: fill({ name, captures, modified: stat.mtime }),
      });
      return found.length > max ? "stop" : undefined;
    }),
  );
  if (found.length > max) {
    const what = `more than ${grouped(max)} files match ${named(source)}`;
    throw failure("too_many_files", `Nothing was changed: ${what}.`, {
      hint: "Use a narrower pattern, or several calls.",
    });
  }
  if (found.length === 0) {
    const kind = directoriesOnly ? "directory" : "file";
    const special = /[[({]/.exec(source)?.[0];
    const literal =
      special === undefined ? "" : ` In a pattern, \\${special} is a ${special} in a name.`;
    const directories = directoriesOnly
      ? ""
      : " With a slash at its end, a pattern matches directories.";
    throw failure("no_match_source", `No ${kind} matches ${named(source)}.`, {
      hint: `List the directory, or find names with search_files.${literal}${directories}`,
    });
  }
  if (found.length > 1 && found.every(({ to }) => to === found[0]?.to)) {
    throw failure(
      "bad_template",
      `${named(destination)} is one path for ${grouped(found.length)} files.`,
      {
        hint: `To put them into it, write ${oneLine(destination)}/$0.`,
      },
    );
  }
  return Promise.all(found.map(async ({ from, to }) => ({ from, to: await guard.resolve(to) })));
}

/** An existing name with special characters, such as "Invoice (1).pdf", is not a pattern. */
async function isThere({ guard }: ChangeContext, path: string): Promise<boolean> {
  const place = await placeOf(guard, path).catch(orRefused);
  return place?.stat !== undefined;
}

/** Whether a destination is a directory to move into: it exists, or ends with a slash. */
async function isDirectory({ guard }: ChangeContext, destination: string): Promise<boolean> {
  if (/[/\\]$/.test(destination)) return true;
  if (/[${]/.test(destination)) return false;
  const directory = await guard.openDirectory(destination).catch(orRefused);
  await directory?.close();
  return directory !== undefined;
}
