import { resource } from "../context.ts";
import { completeRepository, completeRevision, openNamed } from "../repository/open/names.ts";
import { comparedTrees } from "../repository/open/revisions.ts";
import { diff as compare } from "../repository/read/diff.ts";

export default resource({
  uriTemplate: "git://{repo}/diff/{range}",
  name: "diff",
  title: "Diff",
  description: "A patch: staged changes, unstaged changes, or a range such as main...feature.",
  mimeType: "text/x-diff",
  async read({ repo, range }, git, call) {
    const repository = await openNamed(git, repo, call.signal);
    const between =
      range === "staged"
        ? ["--cached"]
        : range === "unstaged"
          ? []
          : await comparedTrees(repository, range);
    if (between.length < 2) await repository.worktree();
    const { body, facts } = await compare(repository, { between, tool: "git_diff" }, call);
    return `${body}\n${facts}`;
  },
  complete: {
    repo: completeRepository,
    range: async (value, git, others) => [
      ...["staged", "unstaged"].filter((name) => name.startsWith(value)),
      ...(await completeRevision(value, git, others)),
    ],
  },
});
