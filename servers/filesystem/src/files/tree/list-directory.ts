import { join } from "node:path";
import {
  type EntryType,
  type GuardedDirectory,
  type PathGuard,
  statOf,
  TimeSlices,
} from "@refmcp/boundary";
import { digits, oneLine } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { orRefused, withDirectory } from "../open-path.ts";
import { type Keyed, keyedPage, keyOf } from "./pages.ts";
import { compareText } from "./path-order.ts";

interface ListRequest {
  readonly path: string;
  /** Adds sizes, times and the total size. */
  readonly details: boolean;
  /** `size` and `mtime` put the largest and the newest first. */
  readonly sort: "name" | "size" | "mtime";
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
  readonly signal?: AbortSignal;
}

/** The official server's marks, and ours for types that it does not distinguish. */
const MARKS: Readonly<Record<EntryType, string>> = {
  directory: "[DIR]",
  file: "[FILE]",
  link: "[LINK]",
  other: "[OTHER]",
};

/**
 * Lists a page of a directory's entries, one per line: its mark, with `details` its size and modification time, its name,
 * and a link's target; links are not followed. The last line, in square brackets, is the server's own; no name can
 * imitate it, since each follows a mark.
 *
 * @throws ToolError as `PathGuard.openDirectory` does, and `invalid` for a cursor of another listing.
 */
export async function listDirectory(
  { guard }: Pick<Files, "guard">,
  request: ListRequest,
): Promise<string> {
  const { details, sort, budget, signal } = request;
  return withDirectory(guard, request.path, async (directory) => {
    const query = [directory.realPath, sort, details];
    const page = keyedPage("list_directory", query, request, compareText);
    const slices = new TimeSlices(signal);
    const isSummed = details && page.after === undefined;
    const total = { entries: 0, files: 0, directories: 0, bytes: 0 };
    const entries = guard.walk(directory).entries();
    if (entries === undefined)
      throw failure("unreadable", `The system denied permission to read ${named(directory.path)}.`);
    for (const { name, type } of entries) {
      if (slices.isDue()) await slices.yieldToOthers();
      // All sizes are needed to sort by them, and for the total on the first page.
      const isSized = sort !== "name" || isSummed;
      const stat = isSized ? statOf(directory.entry(name)) : undefined;
      if (isSized && stat === undefined) continue;
      total.entries += 1;
      if (type === "directory") total.directories += 1;
      if (type === "file") {
        total.files += 1;
        total.bytes += stat?.size ?? 0;
      }
      page.add({ path: name, type, key: keyOf(sort, type, stat) });
    }
    const lines: string[] = [];
    for (const entry of page.take()) {
      const target = entry.type === "link" ? await targetOf(guard, directory, entry.path) : "";
      lines.push(lineOf(directory, entry, target, details));
    }
    await directory.verify();
    const { part, more } = page.cut(lines, budget - directory.path.length);
    const { files, directories, bytes } = total;
    const sums = isSummed
      ? ` (${counted(files, "file")}, ${counted(directories, "directory", "directories")}, ${digits(bytes)} bytes)`
      : "";
    const fact = `${counted(total.entries, "entry", "entries")} in ${oneLine(directory.path)}${sums}.`;
    return `${part.join("")}[${[fact, ...more].join(" ")}]`;
  });
}

/** A link that is gone by now has no target. */
async function targetOf(guard: PathGuard, directory: GuardedDirectory, name: string) {
  const link = await guard.readLink(join(directory.path, name)).catch(orRefused);
  const outside = link?.inside === false ? " (outside, or missing)" : "";
  return link === undefined ? "" : ` -> ${oneLine(link.target)}${outside}`;
}

function lineOf(
  directory: GuardedDirectory,
  { path: name, type }: Keyed,
  target: string,
  details: boolean,
): string {
  const stat = details ? statOf(directory.entry(name)) : undefined;
  const size = type === "file" ? stat?.size : undefined;
  const facts = details ? ` ${size ?? "-"} ${stat?.mtime.toISOString() ?? "-"}` : "";
  return `${MARKS[type]}${facts} ${oneLine(name)}${target}\n`;
}
