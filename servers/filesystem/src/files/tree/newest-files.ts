import { join, sep } from "node:path";
import { statOf } from "@refmcp/boundary";
import { cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Files } from "../files.ts";
import { orRefused } from "../open-path.ts";
import { compileExclusion } from "../search/glob.ts";
import { compileIgnoreLines, ignoreRules } from "../search/ignore.ts";
import { compareText, TopItems } from "./path-order.ts";
import { walk } from "./walk.ts";

/** How many files are listed in all pages together: what a person picks from. */
const MAX_LISTED = 300;
const PAGE = 100;
/** Time for all allowed directories, in milliseconds; the newest of the files that were seen are listed. */
const BUDGET_MS = 3_000;
/** What nobody picks: hidden entries and installed packages. */
const UNWANTED = ["**/.*", "**/node_modules"];

interface NewFile {
  readonly path: string;
  readonly size: number;
  readonly time: number;
}

const position = z.tuple([z.int().min(0).max(MAX_LISTED), z.number(), z.string()]);

/**
 * The newest files of all allowed directories in pages, newest first, without what ignore rules hide except logs.
 *
 * @throws ToolError `invalid` for a damaged cursor, and the signal's reason.
 */
export async function newestFiles(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  {
    cursor,
    signal,
    page = PAGE,
  }: { cursor?: string | undefined; signal?: AbortSignal; page?: number },
): Promise<{ files: readonly NewFile[]; next_cursor?: string }> {
  const directories = guard.allowed.directories();
  const cursors = cursorsOf(
    "resources/list",
    directories.map(({ path }) => path),
    position,
  );
  const [shown, time, path] = cursors.decode(cursor) ?? [0, Number.POSITIVE_INFINITY, ""];
  const compare = (a: Omit<NewFile, "size">, b: Omit<NewFile, "size">) =>
    b.time - a.time || compareText(a.path, b.path);
  const count = Math.min(page, MAX_LISTED - shown);
  const top = new TopItems<NewFile>(count + 1, compare);
  const exclude = compileExclusion(UNWANTED);
  // People attach logs, which most projects keep out of git; what the server's option hides stays hidden.
  const option = compileIgnoreLines(ignored.join("\n"));
  const keep = (path: string, name: string) =>
    /\.log$/i.test(name) && option.verdict(path, name, false) !== true;
  // Allowed directories can contain each other.
  const outer = directories.filter(
    ({ path }) =>
      !directories.some((other) => other.path !== path && path.startsWith(below(other.path))),
  );
  for (const directory of outer) {
    const root = await guard.openDirectory(directory.path).catch(orRefused);
    if (root === undefined) continue;
    try {
      const ignore = await ignoreRules(guard, root, ignored);
      const walking = { signal, budgetMs: BUDGET_MS / outer.length, ignore, exclude, keep };
      await walk(guard, root, walking, ({ path: inside, name, type, parent }) => {
        if (type !== "file") return undefined;
        const stat = statOf(parent.entry(name));
        if (stat === undefined) return undefined;
        const file = { path: join(root.path, inside), size: stat.size, time: stat.mtimeMs };
        if (compare(file, { time, path }) > 0) top.add(file);
        return undefined;
      });
      await root.verify();
    } finally {
      await root.close();
    }
  }
  const all = top.take();
  const files = all.slice(0, count);
  const last = files.at(-1);
  const isLast = last === undefined || all.length <= count || shown + count >= MAX_LISTED;
  return isLast
    ? { files }
    : { files, next_cursor: cursors.encode([shown + files.length, last.time, last.path]) };
}

/** What the paths below a directory begin with. */
const below = (directory: string): string =>
  directory.endsWith(sep) ? directory : directory + sep;
