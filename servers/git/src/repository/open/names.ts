import { startDeadline } from "@refmcp/boundary";
import { namesAt, refNames } from "../read/show.ts";
import type { Git } from "./git.ts";
import type { Repository } from "./repository.ts";

const COMPLETION_MS = 5_000;

/** Other variables or arguments that are already filled in. */
export type Others = Readonly<Record<string, string>>;

/** Opens the repository that a URI or a prompt names; without a name, the only one in scope. */
export async function openNamed(
  git: Git,
  name: string | undefined,
  signal: AbortSignal,
): Promise<Repository> {
  return git.open(name === undefined ? undefined : await git.named(name), signal);
}

/** The same with the first part of the repository's URIs, `git://name`. */
export async function openWithUri(git: Git, name: string | undefined, signal: AbortSignal) {
  const opened = await openNamed(git, name, signal);
  const { worktree, gitDir } = opened.location;
  return { opened, uri: `git://${encodeURIComponent(await git.nameOf(worktree ?? gitDir))}` };
}

export async function completeRepository(value: string, git: Git): Promise<string[]> {
  const names = await Promise.all((await git.repositories()).map((path) => git.nameOf(path)));
  return names.filter((name) => name.startsWith(value));
}

/** Suggests branches and tags of the repository that is filled in (`repo` or `repo_path`), or of the only one. */
export function completeRevision(value: string, git: Git, others: Others): Promise<string[]> {
  return inTime(async (signal) =>
    refNames(await openNamed(git, others.repo ?? others.repo_path, signal), value),
  );
}

/** Suggests the next part of a path in the revision that is filled in. */
export function completePath(value: string, git: Git, others: Others): Promise<string[]> {
  return inTime(async (signal) => {
    const repository = await openNamed(git, others.repo, signal);
    const directory = value.slice(0, value.lastIndexOf("/") + 1);
    const inside = directory === "" ? "." : directory;
    const names = await namesAt(repository, others.rev ?? "HEAD", inside).catch(() => []);
    return names.map((name) => directory + name).filter((path) => path.startsWith(value));
  });
}

async function inTime<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const deadline = startDeadline(COMPLETION_MS);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.end();
  }
}
