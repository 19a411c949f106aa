import { resource } from "../context.ts";
import {
  completePath,
  completeRepository,
  completeRevision,
  openNamed,
} from "../repository/open/names.ts";
import { blobAt } from "../repository/read/show.ts";

export default resource({
  uriTemplate: "git://{repo}/blob/{rev}/{+path}",
  name: "blob",
  title: "File of a commit",
  description:
    "A file's exact content in a commit. repo is the repository's directory name or path.",
  async read({ repo, rev, path }, git, call) {
    const content = await blobAt(await openNamed(git, repo, call.signal), rev, path);
    return typeof content === "string"
      ? { text: content, mimeType: "text/plain" }
      : { blob: content, mimeType: "application/octet-stream" };
  },
  complete: { repo: completeRepository, rev: completeRevision, path: completePath },
});
