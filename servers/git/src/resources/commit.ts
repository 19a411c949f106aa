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
    const { body, facts } = await show(repository, { revision: `${rev}^{commit}` }, call);
    return `${body}\n${facts}`;
  },
  complete: { repo: completeRepository, rev: completeRevision },
});
