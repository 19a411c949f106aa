import { resource } from "../context.ts";
import {
  completePath,
  completeRepository,
  completeRevision,
  openNamed,
} from "../repository/open/names.ts";
import { namesAt } from "../repository/read/show.ts";

export default resource({
  uriTemplate: "git://{repo}/tree/{rev}/{+path}",
  name: "tree",
  title: "Directory of a commit",
  description:
    "Names in a directory of a commit, one per line; directories end in a slash. Path . is the root.",
  mimeType: "text/plain",
  async read({ repo, rev, path }, git, call) {
    const names = await namesAt(await openNamed(git, repo, call.signal), rev, path);
    return names.map((name) => (name.includes("\n") ? JSON.stringify(name) : name)).join("\n");
  },
  complete: { repo: completeRepository, rev: completeRevision, path: completePath },
});
