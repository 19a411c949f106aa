import { oneLine } from "@refmcp/boundary/answer";
import { inTemporaryIndex, withIndex } from "../read/changed-files.ts";
import { failure, failureOf } from "../run/errors.ts";
import { firstNames, pathText, records } from "../run/text.ts";
import type { Repository } from "./repository.ts";

/** Returns files, NUL-terminated; called only if there are filters. */
type Paths = () => Buffer | Promise<Buffer>;

/**
 * Refuses work on files that need a configured filter (git-lfs, git-crypt) which does not run: a checkout would
 * overwrite them with pointers or ciphertext, and staging would store plaintext or large files.
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
  const [found] = await filtered(repository, paths, tree);
  if (found === undefined) return;
  const [filter, names] = found;
  const own = (await repository.prepared()).filters.get(filter) === true;
  const message = `The filter "${oneLine(filter)}" would have to run on ${firstNames(names, 3)}, which is not allowed. Nothing was changed.`;
  throw failure("filter_needed", message, {
    hint: own
      ? "Do this in a terminal, or ask the user to start the server with --filters own, which runs the filters in their own configuration."
      : "Only the repository's configuration defines this filter, so it never runs. Do this in a terminal, or ask the user to define it globally (git config --global) and start the server with --filters own.",
  });
}

/** A sentence about files that are shown as stored, because their filter did not run. */
export async function filterNote(
  repository: Repository,
  paths: Paths,
  effect: string,
): Promise<string | undefined> {
  const found = await filtered(repository, paths);
  const names = found.flatMap(([, files]) => files);
  if (names.length === 0) return undefined;
  const filters = found.map(([filter]) => `"${oneLine(filter)}"`).join(", ");
  return `Filters that did not run (${filters}): ${firstNames(names, 3)} ${effect}.`;
}

/** The files that differ, NUL-terminated, for `refuseFilters`. */
export async function differing(
  repository: Repository,
  ...args: readonly string[]
): Promise<Buffer> {
  const plain = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"];
  const end = args.indexOf("--");
  const result = await withIndex(repository, end < 0 ? args : args.slice(0, end), (env) =>
    repository.run(["diff", ...plain, "--no-relative", ...args], { env }),
  );
  if (result.code !== 0) throw failureOf(result, "compare");
  return result.stdout;
}

async function filtered(
  repository: Repository,
  paths: Paths,
  tree?: string,
): Promise<[filter: string, names: string[]][]> {
  const { filters } = await repository.prepared();
  const input = filters.size === 0 ? "" : await paths();
  if (input.length === 0) return [];
  const ask = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    repository.output(["check-attr", "-z", "--stdin", ...args, "filter"], "read the attributes", {
      input,
      env,
    });
  // git reads a commit's attributes from an index, so this makes one of that commit alone.
  const ofTree = (commit: string) =>
    inTemporaryIndex(async (env) => {
      await repository.output(["read-tree", commit], "read the attributes", { env });
      return ask(["--cached"], env);
    });
  const fields = records(await (tree === undefined ? ask([]) : ofTree(tree)));
  const found = new Map<string, string[]>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const filter = fields[index + 2]?.toString("utf8") ?? "";
    const name = pathText(fields[index] ?? Buffer.alloc(0));
    if (filters.has(filter)) found.set(filter, [...(found.get(filter) ?? []), name]);
  }
  return [...found];
}
