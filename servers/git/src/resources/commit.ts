import { resource } from "../context.ts";
import { completeRepository, completeRevision, openNamed } from "../repository/open/names.ts";
import { show } from "../repository/read/show.ts";

export default resource({
  uriTemplate: "git://{repo}/commit/{rev}",
  name: "commit",
  title: "Commit",
  description: "A commit: author, date, message and patch.",
  mimeType: "text/plain",
  async read({ repo, rev }, git, call) {
    const repository = await openNamed(git, repo, call.signal);
    const query = { revision: `${rev}^{commit}`, contextLines: 3, format: "patch" as const };
    const { body, facts } = await show(repository, query, call.budget);
    return `${body}\n${facts}`;
  },
  complete: { repo: completeRepository, rev: completeRevision },
});
