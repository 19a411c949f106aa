import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oneLine, ToolError } from "@refmcp/core/answer";
import { withIndex } from "../read/changed-files.ts";
import { failureOf } from "../run/failures.ts";
import { pathText, records } from "../run/text.ts";
import type { Repository } from "./repository.ts";

/**
 * Refuses work on files that a filter of the configuration would convert (git-lfs, git-crypt) while that filter is not run: a
 * checkout would write pointers or ciphertext over them, and staging would store what must not be stored.
 *
 * @param paths the files that git would write or read, NUL-terminated, or what gives them
 * @param tree the commit whose attributes count; the working tree's by default
 * @throws ToolError `filter_needed`
 */
export async function refuseFilters(
  repository: Repository,
  paths: Buffer | (() => Promise<Buffer>),
  tree?: string,
): Promise<void> {
  const { filters } = await repository.prepared();
  if (filters.size === 0) return;
  const input = typeof paths === "function" ? await paths() : paths;
  const [found] = await filtered(repository, input, tree);
  if (found === undefined) return;
  const [filter, names] = found;
  const own = filters.get(filter) === true;
  throw new ToolError(
    "denied",
    `The filter "${oneLine(filter)}" would have to run on ${listed(names)}, which is not allowed. Nothing was changed.`,
    {
      code: "filter_needed",
      hint: own
        ? "Do this in a terminal, or ask the user to start the server with --filters own, which runs the filters in their own configuration."
        : "Only the repository's configuration defines this filter, so it never runs. Do this in a terminal, or ask the user to define it globally (git config --global) and start the server with --filters own.",
    },
  );
}

/** A sentence about files that are shown as stored, because their filter did not run. */
export async function filterNote(
  repository: Repository,
  paths: Buffer | (() => Promise<Buffer>),
  effect: string,
): Promise<string | undefined> {
  if ((await repository.prepared()).filters.size === 0) return undefined;
  const found = await filtered(repository, typeof paths === "function" ? await paths() : paths);
  const names = found.flatMap(([, files]) => files);
  if (names.length === 0) return undefined;
  const filters = found.map(([filter]) => `"${oneLine(filter)}"`).join(", ");
  return `Filters that did not run (${filters}): ${listed(names)} ${effect}.`;
}

/** The files that differ, NUL-terminated, for `refuseFilters`. */
export async function differing(repository: Repository, ...args: readonly string[]): Promise<Buffer> {
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
  paths: Buffer,
  tree?: string,
): Promise<[filter: string, names: string[]][]> {
  if (paths.length === 0) return [];
  const { filters } = await repository.prepared();
  const ask = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    repository.output(["check-attr", "-z", "--stdin", ...args, "filter"], "read the attributes", {
      input: paths,
      env,
    });
  const fields = records(tree === undefined ? await ask([]) : await inIndexOf(repository, tree, ask));
  const found = new Map<string, string[]>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const filter = fields[index + 2]?.toString("utf8") ?? "";
    if (!filters.has(filter)) continue;
    const name = oneLine(pathText(fields[index] ?? Buffer.alloc(0)));
    found.set(filter, [...(found.get(filter) ?? []), name]);
  }
  return [...found];
}

/** Attributes as a commit has them: git reads them from an index, and this is one of that commit alone. */
async function inIndexOf(
  repository: Repository,
  tree: string,
  ask: (args: readonly string[], env: Readonly<Record<string, string>>) => Promise<Buffer>,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-git-"));
  try {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    await repository.output(["read-tree", tree], "read the attributes", { env });
    return await ask(["--cached"], env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
}
