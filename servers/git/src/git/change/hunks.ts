import { clip, oneLine } from "@refmcp/boundary/answer";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { comparing, DIFF_ARGS } from "../read/changes.ts";
import { addUntracked } from "../read/diff.ts";
import { refuseFilters } from "../read/filters.ts";
import { type Hunk, hunksIn } from "../read/patch.ts";
import { failure } from "../run/errors.ts";

interface HunkQuery {
  readonly ids: readonly string[];
  /** Where the ids are from: the index and the working tree, or HEAD and the index. */
  readonly from: "unstaged" | "staged";
  /** Whether the patch will be applied in reverse. */
  readonly reverse: boolean;
  /** Whether the ids may be those of untracked files. */
  readonly untracked?: boolean;
}

/**
 * Applies the part of git's patch that has these hunks: to the index, or takes it back from there.
 *
 * @returns the files that it changes
 * @throws ToolError `stale_hunk`, `bad_hunk`, `filter_needed`
 */
export async function applyHunks(
  repository: Repository,
  { ids, from, reverse, untracked = false }: HunkQuery,
): Promise<string[]> {
  const contexts = new Set(ids.map(contextOf));
  const [context = 3] = contexts;
  if (contexts.size > 1)
    throw failure("bad_hunk", "The ids are from diffs with different context_lines.");
  const between = from === "staged" ? ["--cached"] : [];
  const hunks = await comparing(repository, between, async (env) => {
    const read = async () => {
      const how = ["--patch", "--full-index", `--unified=${context}`, ...between];
      const args = ["diff", ...DIFF_ARGS, ...how, "--"];
      const patch = await repository.output(args, "compare", { env });
      return [...hunksIn(patch, context)].filter(({ id }) => ids.includes(id));
    };
    const tracked = await read();
    if (!untracked || ids.every((id) => tracked.some((hunk) => hunk.id === id))) return tracked;
    await addUntracked(repository, [], env);
    return read();
  });
  const stale = ids.find((id) => hunks.filter((hunk) => hunk.id === id).length !== 1);
  if (stale !== undefined) {
    const message = `No ${from} change has the id ${stale}. Nothing was changed.`;
    const hint = `git_diff_${from} shows the current ids. Binary files, renames, submodules and modes have none: pass them in files.`;
    throw failure("stale_hunk", message, { hint });
  }
  const paths = [...new Set(hunks.map(({ path }) => path))].sort();
  await refuseFilters(repository, () => pathBytes(repository, paths));
  const args = ["apply", "--cached", "--whitespace=nowarn", reverse && "--reverse", "-"];
  const config = [["apply.ignoreWhitespace", "no"]] as const;
  await repository.output(args, "apply the changes", { input: patchOf(hunks, reverse), config });
  return paths;
}

/** The lines of context of the diff that an id is from. */
function contextOf(id: string): number {
  const match = /^[0-9a-f]{7}(?:u(\d{1,4}))?$/.exec(id);
  if (match !== null) return Number(match[1] ?? 3);
  throw failure("bad_hunk", `"${oneLine(clip(id, 60))}" is not the id of a change.`);
}

function patchOf(hunks: readonly Hunk[], reverse: boolean): Buffer {
  const parts: Buffer[] = [];
  let file = "";
  let shift = 0;
  for (const { fileHeader, before, after, body } of hunks) {
    if (fileHeader !== file) {
      [file, shift] = [fileHeader, 0];
      // A change of only the mode has no id.
      parts.push(Buffer.from(file.replaceAll(/^(old|new) mode .*\n/gm, ""), "latin1"));
    }
    // git looks for the lines where the other side has them, so the hunks that are left out count.
    const isPart = before.count > 0 && after.count > 0;
    const [old, current] = reverse
      ? [isPart ? after.line + shift : before.line, after.line]
      : [before.line, isPart ? before.line + shift : after.line];
    shift += (after.count - before.count) * (reverse ? -1 : 1);
    parts.push(Buffer.from(`@@ -${old},${before.count} +${current},${after.count} @@\n`), body);
  }
  return Buffer.concat(parts);
}
