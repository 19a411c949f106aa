import type { Repository } from "../open/repository.ts";
import { records } from "../run/text.ts";
import { DIFF_ARGS, fileLine, parseChanges } from "./changed-files.ts";
import type { ShownCommit } from "./commits.ts";

/** How many files of a commit are listed. */
const MAX_FILES = 10;
type Files = Required<Pick<ShownCommit, "files">> & Pick<ShownCommit, "file_count">;

/** The files that commits changed, with their lines; a merge has none, as in git. One process reads all. */
export async function filesOf(
  repository: Repository,
  oids: readonly string[],
): Promise<Map<string, Files>> {
  const found = new Map<string, Files>();
  if (oids.length === 0) return found;
  const how = ["-r", "--root", "--numstat", "-z", "--no-abbrev-commit", ...DIFF_ARGS];
  const input = oids.map((oid) => `${oid}\n`).join("");
  const output = await repository.output(
    ["diff-tree", "--stdin", ...how],
    "list the changed files",
    {
      input,
    },
  );
  const fields = records(output);
  let at = 0;
  for (const oid of oids) {
    // git leaves a merge out. A commit's files follow its id; a rename has two more fields, its paths.
    if (fields[at]?.toString("latin1") !== oid) continue;
    const start = ++at;
    while (fields[at]?.includes(9)) at += fields[at]?.at(-1) === 9 ? 3 : 1;
    const all = parseChanges(fields.slice(start, at));
    const files = all.slice(0, MAX_FILES).map((file) => fileLine(file));
    found.set(oid, { files, file_count: all.length > files.length ? all.length : undefined });
  }
  return found;
}
