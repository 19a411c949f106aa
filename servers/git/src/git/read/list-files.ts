import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Arguments } from "../open/machine.ts";
import { pathsIn } from "../open/paths.ts";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { failureOf } from "../run/errors.ts";
import { pathText, records } from "../run/text.ts";

type FileKind = "tracked" | "untracked" | "ignored";

interface FilesQuery extends PageQuery {
  readonly kind: FileKind;
  readonly revision?: string | undefined;
  readonly paths?: readonly string[] | undefined;
}

const KINDS: Readonly<Record<FileKind, readonly string[]>> = {
  tracked: ["--cached", "--deduplicate"],
  untracked: ["--others", "--exclude-standard"],
  ignored: ["--others", "--ignored", "--exclude-standard"],
};

/** The commit that a list is from, and how much of it has been shown. */
export const listPosition = z.object({ oid: z.string().optional(), skip: z.int().min(0) });

/** Lists the files of the working tree by kind, or those of a commit. */
export async function listFiles(repository: Repository, query: FilesQuery, { budget }: Budget) {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_list_files", [repository.location.gitDir, rest], listPosition);
  const start = cursors.decode(cursor);
  const skip = start?.skip ?? 0;
  const oid = await searchedCommit(repository, query.revision, start);
  const where = paths.filter((path) => path !== ".");
  const args =
    oid === undefined
      ? ["ls-files", "-z", ...KINDS[query.kind], "--", ...where]
      : ["ls-tree", "-r", "-z", "--name-only", "--full-tree", oid, "--", ...where];
  const result = await beginningOf(repository, args, 0, skip + limit);
  if (result.code !== 0 && !result.cut) throw failureOf(result, "list the files");
  const files = records(result.stdout).slice(skip).map(pathText);
  const count = Math.min(limit, fitCount(files, budget - 300));
  return {
    files: files.slice(0, count),
    ...(files.length > count ? { next_cursor: cursors.encode({ oid, skip: skip + count }) } : {}),
  };
}

/**
 * Runs git until its output has more than `count` separators, so that a tree with 10^10 files (a git
 * bomb) costs no more than a small one.
 */
export async function beginningOf(
  repository: Repository,
  args: Arguments,
  separator: number,
  count: number,
) {
  const chunks: Buffer[] = [];
  let separators = 0;
  const result = await repository.run(args, {
    onStdout(chunk) {
      chunks.push(chunk);
      for (const byte of chunk) if (byte === separator) separators++;
      return separators <= count;
    },
  });
  return { ...result, stdout: Buffer.concat(chunks) };
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
