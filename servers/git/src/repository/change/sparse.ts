import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { refuseFilters } from "../open/filters.ts";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { uncommittedPaths } from "../read/changed-files.ts";
import { sparseList } from "../read/status.ts";
import { failure } from "../run/errors.ts";
import { counted, firstNames, nulEnded } from "../run/text.ts";
import { refuseOperation } from "./integrate.ts";

export const sparse = z.object({
  /** The directories that the working tree has, in addition to files in the root; omitted if it has all. */
  directories: z.array(z.string()).optional(),
  /** Patterns instead of directories, which only a terminal can change. */
  patterns: z.array(z.string()).optional(),
  /** How many files have left the working tree or came into it, and how many tracked ones it has now. */
  left: z.number().optional(),
  came: z.number().optional(),
  files: z.number(),
  of: z.number(),
  undo: z.string().optional(),
});

/** Lists or changes the directories that the working tree has (a sparse checkout in cone mode). */
export async function sparseCheckout(
  repository: Repository,
  query: {
    action: "list" | "set" | "add" | "disable";
    directories?: readonly string[] | undefined;
  },
): Promise<z.infer<typeof sparse>> {
  await repository.worktree();
  const { action, directories = [] } = query;
  const before = await stateOf(repository);
  const { skipped: _, ...listed } = before;
  if (action === "list") return listed;
  await refuseOperation(repository);
  const given = await pathsIn(repository, directories);
  if (action === "add" && before.directories === undefined) {
    const why =
      before.patterns === undefined
        ? "The checkout is not sparse"
        : "The sparse checkout has patterns";
    throw failure("bad_path", `${why}, so no directory can be added.`, {
      hint: "action: set replaces it.",
    });
  }
  const wanted = action === "add" ? [...(before.directories ?? []), ...given] : given;
  const tracked = await repository.paths(["ls-files", "-z"], "list the files");
  const isDirectory = (directory: string) =>
    tracked.some((file) => file.startsWith(`${directory}/`));
  const unknown = given.find((directory) => !isDirectory(directory));
  if (action !== "disable" && (given.length === 0 || unknown !== undefined)) {
    const message =
      unknown === undefined
        ? "directories is missing."
        : `"${oneLine(unknown)}" is not a directory with tracked files.`;
    throw failure("bad_path", message, {
      hint: "Pass directories, not files; git_list_files shows them.",
    });
  }
  if (action !== "disable") await refuseLoss(repository, wanted);
  const coming = before.skipped.filter((file) => action === "disable" || isIncluded(file, wanted));
  await refuseFilters(repository, () => nulEnded(coming));
  const args =
    action === "disable" ? ["disable"] : ["set", "--cone", "--no-sparse-index", "--stdin"];
  const input = `${wanted.map(quoted).join("\n")}\n`;
  // git leaves a file in place whose times differ from the index, as in a copied repository.
  await repository.run(["update-index", "-q", "--refresh"]);
  await repository.output(["sparse-checkout", ...args], "change the sparse checkout", { input });
  const { skipped, ...after } = await stateOf(repository);
  const [then, now] = [new Set(before.skipped), new Set(skipped)];
  return {
    ...after,
    left: skipped.filter((file) => !then.has(file)).length,
    came: before.skipped.filter((file) => !now.has(file)).length,
    undo:
      before.directories !== undefined
        ? `git_sparse_checkout with action set and directories ${before.directories.join(", ")}`
        : before.patterns !== undefined
          ? "git sparse-checkout set --no-cone with the previous patterns, in a terminal"
          : "git_sparse_checkout with action disable",
  };
}

async function stateOf(
  repository: Repository,
): Promise<z.infer<typeof sparse> & { skipped: string[] }> {
  const { list, isCone } = (await sparseList(repository)) ?? {};
  const files = await repository.paths(["ls-files", "-t", "-z"], "list the files");
  const skipped = files.filter((line) => line.startsWith("S ")).map((line) => line.slice(2));
  const counts = { files: files.length - skipped.length, of: files.length, skipped };
  return isCone ? { ...counts, directories: list } : { ...counts, patterns: list };
}

/** Cone mode: files below the directories, and those directly in the root and in directories above them. */
function isIncluded(file: string, directories: readonly string[]): boolean {
  const above = file.slice(0, file.lastIndexOf("/") + 1);
  return directories.some(
    (directory) => above.startsWith(`${directory}/`) || `${directory}/`.startsWith(above),
  );
}

/**
 * git deletes ignored files with a directory that leaves, and keeps changed ones, which are then in the way.
 *
 * @throws ToolError `sparse_files`
 */
async function refuseLoss(repository: Repository, wanted: readonly string[]): Promise<void> {
  const others = await repository.paths(["ls-files", "--others", "-z"], "list the files");
  const changed = await uncommittedPaths(repository);
  const lost = [...new Set([...changed, ...others])]
    .filter((file) => !isIncluded(file, wanted))
    .sort();
  if (lost.length === 0) return;
  const what = `${counted(lost.length, "changed, new or ignored file")} would be in directories that leave the`;
  throw failure("sparse_files", `${what} working tree: ${firstNames(lost)}. Nothing was changed.`);
}

/** git reads a line in quotes as a C string. */
const quoted = (path: string) => (/^"|[\\\n]/.test(path) ? JSON.stringify(path) : path);
