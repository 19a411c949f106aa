import { isUtf8 } from "node:buffer";
import { oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { pathIn } from "../open/paths.ts";
import type { Named, Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { pathText, records } from "../run/text.ts";

const MAX_BLOB_BYTES = 4 * 1024 * 1024;

/**
 * A file of a commit, byte for byte; as text if it is UTF-8 without NUL.
 *
 * @throws ToolError `too_large` over 4 MiB
 */
export async function blobAt(
  repository: Repository,
  revision: string,
  path: string,
): Promise<string | Buffer> {
  const blob = await entryAt(repository, revision, path, "blob");
  if (blob.size > MAX_BLOB_BYTES) {
    throw new ToolError(
      "too_large",
      `"${oneLine(path)}" is ${sized(blob.size)}; a resource is limited to ${sized(MAX_BLOB_BYTES)}.`,
      {
        code: "too_large",
        hint: "Read it in parts: git_show with revision:path, start_line and end_line.",
      },
    );
  }
  const bytes = await repository.output(["cat-file", "blob", blob.oid], "read the file");
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString("utf8") : bytes;
}

/** The names in a directory of a commit; directories end in a slash. */
export async function namesAt(repository: Repository, revision: string, path: string): Promise<string[]> {
  const tree = await entryAt(repository, revision, path, "tree");
  return (await treeEntries(repository, tree.oid)).map(({ name }) => name);
}

/** What a tree contains; the name of a directory ends in a slash. */
export async function treeEntries(repository: Repository, oid: string) {
  const output = await repository.output(["ls-tree", "-z", oid], "read the directory");
  return records(output).map((record) => {
    const tab = record.indexOf(9);
    const [mode = "", type = ""] = record.toString("latin1", 0, tab).split(" ");
    return { mode, type, name: `${pathText(record.subarray(tab + 1))}${type === "tree" ? "/" : ""}` };
  });
}

async function entryAt(
  repository: Repository,
  revision: string,
  path: string,
  type: "blob" | "tree",
): Promise<Named> {
  const inside = pathIn(repository.location.worktree ?? repository.location.gitDir, path);
  const commit = await commitOf(repository, revision);
  const [named] = await repository.lookUp([inside === "." ? `${commit}^{tree}` : `${commit}:${inside}`]);
  if (named?.type === type) return named;
  const what = type === "blob" ? "file" : "directory";
  throw new ToolError("not_found", `There is no ${what} "${oneLine(inside)}" in ${oneLine(revision)}.`, {
    code: "bad_path",
    hint: "git_list_files with the same revision shows the files.",
  });
}

/** Branches, tags and remote branches that begin with a text, for completion. */
export async function refNames(repository: Repository, begin: string, max = 100): Promise<string[]> {
  const list = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/", "refs/tags/", "refs/remotes/"];
  const names = ["HEAD", ...(await repository.lines(list, "list the refs"))];
  return names.filter((name) => name.startsWith(begin)).slice(0, max);
}
