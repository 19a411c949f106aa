import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
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
 * Lists the files of the working tree by kind, or those of a commit. git is stopped when the page is
 * full, so that a tree with 10^10 files (a git bomb) costs no more than a small one.
 */
export async function listFiles(repository: Repository, query: FilesQuery, { budget }: Budget) {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_list_files", [repository.location.gitDir, rest], position);
  const start = cursors.decode(cursor);
  const skip = start?.skip ?? 0;
  const oid = await searchedCommit(repository, query.revision, start);
  const where = paths.filter((path) => path !== ".");
  const args =
    oid === undefined
      ? ["ls-files", "-z", ...KINDS[query.kind], "--", ...where]
      : ["ls-tree", "-r", "-z", "--name-only", "--full-tree", oid, "--", ...where];
  const maxBytes = Number.MAX_SAFE_INTEGER;
  const limits = { maxLines: limit, maxBytes, maxLineBytes: maxBytes };
  const pager = new LinePager({ skip, ...limits, separator: 0 });
  const onStdout = (chunk: Buffer) => pager.take(chunk);
  await repository.output(args, "list the files", { onStdout, maxBytes });
  const { lines, more } = pager.page();
  const files = lines.map(pathText);
  const count = fitting(files, budget - 300);
  const isRest = more || files.length > count;
  return {
    files: files.slice(0, count),
    ...(isRest ? { next_cursor: cursors.encode({ oid, skip: skip + count }) } : {}),
  };
}

/** The commit to search: the cursor's, or that of a revision; undefined for the working tree. */
export async function searchedCommit(
  repository: Repository,
  revision: string | undefined,
  start: { readonly oid?: string | undefined } | undefined,
): Promise<string | undefined> {
  const isFirst = start === undefined && revision !== undefined;
  const oid = isFirst ? await commitOf(repository, revision) : start?.oid;
  if (oid === undefined) await repository.worktree();
  return oid;
}
