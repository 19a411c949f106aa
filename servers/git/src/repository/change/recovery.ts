import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { headOf } from "../open/revisions.ts";
import { copyIndex } from "../read/index-copy.ts";

/** Snapshots are the server's own commits; they need no identity of the user's. */
const IDENTITY = {
  GIT_AUTHOR_NAME: "refmcp",
  GIT_AUTHOR_EMAIL: "refmcp@localhost",
  GIT_COMMITTER_NAME: "refmcp",
  GIT_COMMITTER_EMAIL: "refmcp@localhost",
} as const;

/** A ref that keeps what a command would lose. */
export interface Recovery {
  readonly ref: string;
  readonly oid: string;
}

/**
 * Keeps the state of the working tree and the index under a recovery ref, in the form of a stash, so that `git stash apply` takes it.
 *
 * @param untracked paths of untracked files to keep as well
 * @returns undefined where there is nothing that HEAD does not have
 */
export async function keepWorktree(
  repository: Repository,
  operation: string,
  untracked: readonly string[] = [],
): Promise<Recovery | undefined> {
  const head = await headOf(repository);
  const folder = await mkdtemp(join(tmpdir(), "refmcp-git-"));
  try {
    const index = join(folder, "index");
    await copyIndex(repository, index);
    const env = { ...IDENTITY, GIT_INDEX_FILE: index };
    const text = async (args: readonly string[], doing: string, input?: Uint8Array | string) =>
      (await repository.output(args, doing, { env, ...(input === undefined ? {} : { input }) }))
        .toString("utf8")
        .trim();
    const message = `refmcp: before ${operation}\n`;
    const parent = head === undefined ? [] : ["-p", head];

    // The index as it is; in the middle of a merge it is no tree.
    const staged = await repository.run(["write-tree"], { env });
    const stagedTree = staged.code === 0 ? staged.stdout.toString("utf8").trim() : undefined;
    await text(["add", "--update", "--", "."], "keep the working tree");
    if (untracked.length > 0) {
      const stdin = ["--pathspec-from-file=-", "--pathspec-file-nul"];
      await text(["add", "--force", ...stdin], "keep the files", await pathBytes(repository, untracked));
    }
    const tree = await text(["write-tree"], "keep the working tree");
    const [headTree] = await repository.lookUp(["HEAD^{tree}"]);
    if (tree === headTree?.oid && (stagedTree === undefined || stagedTree === tree)) return undefined;
    const onIndex =
      stagedTree === undefined || head === undefined
        ? []
        : ["-p", await text(["commit-tree", stagedTree, ...parent], "keep the index", message)];
    const oid = await text(["commit-tree", tree, ...parent, ...onIndex], "keep the working tree", message);
    return await keep(repository, operation, oid);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Keeps a commit under a new recovery ref. */
export async function keep(repository: Repository, operation: string, oid: string): Promise<Recovery> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const ref = `refs/refmcp/recovery/${time}-${operation}-${randomBytes(3).toString("hex")}`;
  await repository.output(["update-ref", ref, oid, "0".repeat(oid.length)], "make a recovery ref");
  return { ref, oid };
}
