import { startDeadline } from "@refmcp/boundary";
import type { Git } from "./git.ts";
import type { Repository } from "./repository.ts";

const COMPLETION_MS = 5_000;

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

/** Suggests branches, tags and remote branches of the repository in `repo_path`, or of the only one. */
export async function completeRevision(
  value: string,
  git: Git,
  { repo_path }: Readonly<Record<string, string>>,
): Promise<string[]> {
  const deadline = startDeadline(COMPLETION_MS);
  try {
    const repository = await openNamed(git, repo_path, deadline.signal);
    const below = ["refs/heads/", "refs/tags/", "refs/remotes/"];
    const list = ["for-each-ref", "--format=%(refname:lstrip=2)", ...below];
    const names = ["HEAD", ...(await repository.lines(list, "list the refs"))];
    return names.filter((name) => name.startsWith(value)).slice(0, 100);
  } finally {
    deadline.end();
  }
}
