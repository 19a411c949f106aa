import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { shortIds } from "../open/revisions.ts";

/** How far an operation in progress is. */
export const operationState = z.object({
  /** The branch that a rebase moves, or that a bisect began at; omitted for a detached HEAD. */
  branch: z.string().optional(),
  /** Where a rebase puts its commits. */
  onto: z.string().optional(),
  /** What is being merged, copied, reverted or, in a rebase, applied. */
  commit: z.string().optional(),
  step: z.number().optional(),
  steps: z.number().optional(),
  /** Commits that a cherry-pick or revert still has to do, with this one. */
  remaining: z.number().optional(),
});
type OperationState = z.infer<typeof operationState>;

const MAX_BYTES = 1_000_000;
const HEADS: Readonly<Record<string, string>> = {
  rebase: "REBASE_HEAD",
  merge: "MERGE_HEAD",
  "cherry-pick": "CHERRY_PICK_HEAD",
  revert: "REVERT_HEAD",
};

/** Reads the files that git keeps during an operation. They may come from others, so only what fits their form is used. */
export async function stateOf(repository: Repository, operation: string): Promise<OperationState> {
  const { gitDir } = repository.location;
  const read = async (...names: string[]): Promise<string> => {
    for (const path of names.map((name) => join(gitDir, name))) {
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.isFile() && stats.size < MAX_BYTES) return (await readFile(path, "utf8")).trimEnd();
    }
    return "";
  };
  const number = async (...names: string[]) =>
    Number(/^\d{1,9}$/.exec(await read(...names))?.[0] ?? 0) || undefined;
  const oid = async (...names: string[]) => /^[0-9a-f]{40,64}$/m.exec(await read(...names))?.[0];
  const [, branch] =
    operation === "bisect"
      ? (/^(?![0-9a-f]{40,64}$)(.+)$/.exec(await read("BISECT_START")) ?? [])
      : (/^refs\/heads\/(.+)$/.exec(await read("rebase-merge/head-name", "rebase-apply/head-name")) ?? []);
  const commit = await oid(HEADS[operation] ?? "");
  const onto = await oid("rebase-merge/onto", "rebase-apply/onto");
  const todo = (await read("sequencer/todo")).split("\n").filter((line) => /^(pick|revert) /.test(line));
  const idOf = await shortIds(
    repository,
    [commit, onto].filter((id) => id !== undefined),
  );
  return {
    branch: branch === undefined ? undefined : oneLine(branch),
    onto: onto === undefined ? undefined : idOf(onto),
    commit: commit === undefined ? undefined : idOf(commit),
    step: await number("rebase-merge/msgnum", "rebase-apply/next"),
    steps: await number("rebase-merge/end", "rebase-apply/last"),
    remaining: todo.length || undefined,
  };
}
