import type { Git } from "./git.ts";

/**
 * Opens the repository that a URI or a prompt names; without a name, the only one in scope.
 *
 * @returns also the first part of its URIs, `git://name`
 */
export async function openNamed(git: Git, name: string | undefined, signal: AbortSignal) {
  const repository = await git.open(name === undefined ? undefined : await git.named(name), signal);
  const { worktree, gitDir } = repository.location;
  const uri = `git://${encodeURIComponent(await git.nameOf(worktree ?? gitDir))}`;
  return { repository, uri };
}

export async function completeRepository(value: string, git: Git): Promise<string[]> {
  const names = await Promise.all((await git.repositories()).map((path) => git.nameOf(path)));
  return names.filter((name) => name.startsWith(value));
}
