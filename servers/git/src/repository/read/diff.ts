import { cursorsOf, ToolError } from "@refmcp/core/answer";
import * as z from "zod";
import { filterNote } from "../open/filters.ts";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { together } from "../run/run-git.ts";
import { changesOf, DIFF_ARGS, isFileStart, withIndex } from "./changed-files.ts";
import { diffFacts, fileList, wholeFiles } from "./diff-text.ts";
import { type LinePage, LinePager } from "./line-pager.ts";

export type DiffFormat = "patch" | "stat" | "name_status";

export interface DiffQuery {
  /** What is compared: object ids, or `--cached`, or nothing for the working tree against the index. */
  readonly between: readonly string[];
  readonly contextLines: number;
  readonly paths?: readonly string[] | undefined;
  readonly format: DiffFormat;
  readonly cursor?: string | undefined;
  /** The tool, to which its cursors belong. */
  readonly tool: string;
}

/** A diff as text, and one line about it that is the server's own. */
export interface DiffText {
  readonly body: string;
  readonly facts: string;
}

const position = z.object({ digest: z.string(), line: z.int().min(0) });

/**
 * A diff within the budget: whole files while they fit, a too large one by hunks, and a cursor for the rest. The cursor is
 * bound to the object ids and to what has changed, so that a page never belongs to another diff than the one before.
 *
 * @param budget characters of the answer
 * @throws ToolError `conflict`, code `stale_cursor`
 */
export async function diff(repository: Repository, query: DiffQuery, budget: number): Promise<DiffText> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const scope = [repository.location.gitDir, query.between, query.contextLines, paths, query.format];
  const cursors = cursorsOf(query.tool, scope, position);
  const start = cursors.decode(query.cursor);
  const skip = start?.line ?? 0;
  const room = budget - 700;
  const [changes, page] = await withIndex(repository, query.between, (env) =>
    together([
      changesOf(repository, query.between, paths, env),
      query.format === "patch" ? patchPage(repository, query, paths, skip, room, env) : query.format,
    ]),
  );
  if (start !== undefined && start.digest !== changes.digest) {
    throw new ToolError("conflict", "The changes are no longer those that the cursor came from.", {
      code: "stale_cursor",
      hint: "Call again without cursor.",
    });
  }
  const isOfFiles = query.between.length < 2 && query.between[0] !== "--cached";
  const names = changes.files.map(({ path }) => `${path}\0`).join("");
  const note = isOfFiles
    ? await filterNote(
        repository,
        Buffer.from(names),
        "as they are on the disk; they may in truth be unchanged",
      )
    : undefined;
  if (typeof page === "string") {
    const list = fileList(changes.files, page, skip, room);
    const next = list.next < changes.files.length ? list.next : undefined;
    const cursor = next === undefined ? undefined : cursors.encode({ digest: changes.digest, line: next });
    return { body: list.text, facts: diffFacts(changes.files, { cursor, note }) };
  }
  const shown = wholeFiles(page, changes.files, skip, room);
  const cursor =
    shown.next === undefined ? undefined : cursors.encode({ digest: changes.digest, line: shown.next });
  return {
    body: shown.text,
    facts: diffFacts(changes.files, { cursor, note, leftOut: shown.leftOut, cutLines: page.cutLines }),
  };
}

/** A page of the patch's lines; the header of the file in whose middle it begins is its landmark. */
async function patchPage(
  repository: Repository,
  query: DiffQuery,
  paths: readonly string[],
  skip: number,
  room: number,
  env: Readonly<Record<string, string>>,
): Promise<LinePage> {
  let inHeader = false;
  const pager = new LinePager({
    skip,
    maxLines: Number.MAX_SAFE_INTEGER,
    // A character may take three bytes; what is too much is cut by characters afterwards.
    maxBytes: room * 3,
    maxLineBytes: Math.max(500, Math.floor(room / 4)),
    landmark(line) {
      if (isFileStart(line)) {
        inHeader = true;
        return "start";
      }
      if (line[0] === 64) inHeader = false;
      return inHeader ? "more" : undefined;
    },
  });
  await repository.output(
    ["diff", ...DIFF_ARGS, "--patch", `--unified=${query.contextLines}`, ...query.between, "--", ...paths],
    "compare",
    { onStdout: (chunk) => pager.take(chunk), maxBytes: Number.MAX_SAFE_INTEGER, env },
  );
  return pager.page();
}
