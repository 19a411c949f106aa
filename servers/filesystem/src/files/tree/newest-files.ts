import { join } from "node:path";
import { statOf, within } from "@refmcp/boundary";
import type { Files } from "../files.ts";
import { orRefused } from "../open-path.ts";
import { compileExclusion } from "../search/glob.ts";
import { ignoreRules } from "../search/ignore.ts";
import { compareText, TopItems } from "./path-order.ts";
import { walk } from "./walk.ts";

/** What a person picks from. */
const MAX_LISTED = 100;
/** Time for all allowed directories, in milliseconds; the newest of the files that were seen are listed. */
const BUDGET_MS = 3_000;
/** What nobody picks: hidden entries and installed packages. */
const UNWANTED = ["**/.*", "**/node_modules"];

interface NewFile {
  readonly path: string;
  readonly size: number;
  readonly time: number;
}

/** The newest files of all allowed directories, newest first, without what ignore rules hide. */
export async function newestFiles(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  signal?: AbortSignal,
): Promise<readonly NewFile[]> {
  const directories = guard.allowed.directories();
  const compare = (a: NewFile, b: NewFile) => b.time - a.time || compareText(a.path, b.path);
  const top = new TopItems<NewFile>(MAX_LISTED, compare);
  const exclude = compileExclusion(UNWANTED);
  // Allowed directories can contain each other.
  const outer = directories.filter(
    ({ path }) => !directories.some((parent) => parent.path !== path && within(path, parent.path)),
  );
  for (const directory of outer) {
    const root = await guard.openDirectory(directory.path).catch(orRefused);
    if (root === undefined) continue;
    try {
      const ignore = await ignoreRules(guard, root, ignored);
      const walking = { signal, budgetMs: BUDGET_MS / outer.length, ignore, exclude };
      await walk(guard, root, walking, ({ path, name, type, parent }) => {
        const stat = type === "file" ? statOf(parent.entry(name)) : undefined;
        if (stat !== undefined)
          top.add({ path: join(root.path, path), size: stat.size, time: stat.mtimeMs });
        return undefined;
      });
      await root.verify();
    } finally {
      await root.close();
    }
  }
  return top.take();
}
