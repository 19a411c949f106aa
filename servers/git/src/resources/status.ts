import { resource } from "../context.ts";
import { completeRepository, openNamed } from "../git/open/names.ts";
import { status, watchStatus } from "../git/read/status.ts";

export default resource({
  uriTemplate: "git://{repo}/status",
  name: "status",
  title: "Status",
  description:
    "Branch, staged, unstaged and untracked files as JSON. Subscribe to be notified of commits, checkouts and staging.",
  mimeType: "application/json",
  async read({ repo }, git, call) {
    const repository = await openNamed(git, repo, call.signal);
    return JSON.stringify(await status(repository, {}, call), undefined, 2);
  },
  async list(git) {
    const listed = await Promise.all(
      (await git.worktrees()).map(async (path) => {
        const name = await git.nameOf(path);
        return {
          uri: `git://${encodeURIComponent(name)}/status`,
          name,
          title: `Status of ${name}`,
          description: "Branch, staged, unstaged and untracked files.",
          mimeType: "application/json",
        };
      }),
    );
    return { resources: listed };
  },
  complete: { repo: completeRepository },
  async watch({ repo }, git, changed) {
    const repository = await openNamed(git, repo, new AbortController().signal);
    return watchStatus(repository, changed);
  },
});
