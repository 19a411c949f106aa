import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { pathText } from "../run/text.ts";
import { LinePager } from "./line-pager.ts";

type FileKind = "tracked" | "untracked" | "ignored";

interface FilesQuery {
  readonly kind: FileKind;
  readonly revision?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const KINDS: Readonly<Record<FileKind, readonly string[]>> = {
  tracked: ["--cached", "--deduplicate"],
  untracked: ["--others", "--exclude-standard"],
  ignored: ["--others", "--ignored", "--exclude-standard"],
};
const position = z.object({ oid: z.string().optional(), skip: z.int().min(0) });

/**
 * Lists the files of the working tree by kind, or those of a commit. git is stopped when the page is full, so that a tree with
 * 10^10 files (a git bomb) costs no more than a small one.
 */
export async function listFiles(
  repository: Repository,
  query: FilesQuery,
  budget: number,
): Promise<{ files: string[]; next_cursor?: string }> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_list_files", [repository.location.gitDir, rest], position);
  const given = cursors.decode(cursor);
  const skip = given?.skip ?? 0;
  const oid =
    given !== undefined || query.revision === undefined
      ? given?.oid
      : await commitOf(repository, query.revision);
  if (oid === undefined) await repository.worktree();
  const where = paths.filter((path) => path !== ".");
  const args =
    oid === undefined
      ? ["ls-files", "-z", ...KINDS[query.kind], "--", ...where]
      : ["ls-tree", "-r", "-z", "--name-only", "--full-tree", oid, "--", ...where];
  const unlimited = Number.MAX_SAFE_INTEGER;
  const pager = new LinePager({
    skip,
    maxLines: limit,
    maxBytes: unlimited,
    maxLineBytes: unlimited,
    separator: 0,
  });
  const onStdout = (chunk: Buffer) => pager.take(chunk);
  await repository.output(args, "list the files", { onStdout, maxBytes: unlimited });
  const { lines, more } = pager.page();
  const files = lines.map(pathText);
  const count = fitting(files, budget - 300);
  return {
    files: files.slice(0, count),
    ...(more || files.length > count ? { next_cursor: cursors.encode({ oid, skip: skip + count }) } : {}),
  };
}
