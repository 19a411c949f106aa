import { oneLine } from "@refmcp/boundary/answer";
import type { Repository } from "../open/repository.ts";
import { failure } from "../run/errors.ts";
import { firstNames, pathText, records } from "../run/text.ts";
import { inTemporaryIndex } from "./temporary-index.ts";

/** Returns files, NUL-terminated; called only if there are filters. */
type Paths = () => Buffer | Promise<Buffer>;

/**
 * Refuses work on files that need a configured filter (git-lfs, git-crypt) which does not run: a
 * checkout would overwrite them with pointers or ciphertext, and staging would store plaintext or
 * large files.
 *
 * @param paths the files that git would write or read
 * @param tree the commit whose attributes apply; default: the working tree's
 * @throws ToolError `filter_needed`
 */
export async function refuseFilters(
  repository: Repository,
  paths: Paths,
  tree?: string,
): Promise<void> {
  const [first] = await filtered(repository, paths, tree);
  if (first === undefined) return;
  const [filter, names] = first;
  const { filters } = await repository.prepared();
  const message = `The filter "${oneLine(filter)}" would have to run on ${firstNames(names, 3)}, which is not allowed. Nothing was changed.`;
  const own = filters.get(filter) ? "" : "defines it with git config --global and ";
  const hint = `Do this in a terminal, or the user ${own}starts the server with --filters own.`;
  throw failure("filter_needed", message, { hint });
}

/** A sentence about files that are shown as stored, because their filter did not run. */
export async function filterNote(
  repository: Repository,
  paths: Paths,
  effect: string,
): Promise<string | undefined> {
  const byFilter = await filtered(repository, paths);
  const names = byFilter.flatMap(([, files]) => files);
  if (names.length === 0) return undefined;
  const filters = byFilter.map(([filter]) => `"${oneLine(filter)}"`).join(", ");
  return `Filters that did not run (${filters}): ${firstNames(names, 3)} ${effect}.`;
}

/** The files with a filter that does not run, by `path NUL attribute NUL value` of git. */
async function filtered(
  repository: Repository,
  paths: Paths,
  tree?: string,
): Promise<[filter: string, names: string[]][]> {
  const { filters } = await repository.prepared();
  const input = filters.size === 0 ? Buffer.alloc(0) : await paths();
  if (input.length === 0) return [];
  const doing = "read the attributes";
  const check = ["check-attr", "-z", "--stdin"];
  // git reads a commit's attributes from an index, so this makes one of that commit alone.
  const output = await (tree === undefined
    ? repository.output([...check, "filter"], doing, { input })
    : inTemporaryIndex(async (env) => {
        await repository.output(["read-tree", tree], doing, { env });
        return repository.output([...check, "--cached", "filter"], doing, { input, env });
      }));
  const fields = records(output);
  const byFilter = new Map<string, string[]>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const filter = fields[index + 2]?.toString("utf8") ?? "";
    const name = pathText(fields[index] ?? Buffer.alloc(0));
    if (filters.has(filter)) byFilter.set(filter, [...(byFilter.get(filter) ?? []), name]);
  }
  return [...byFilter];
}
