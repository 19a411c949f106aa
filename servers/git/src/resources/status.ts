import { existsSync } from "node:fs";
import { join } from "node:path";
import { resource } from "../context.ts";
import { completeRepository, openNamed } from "../git/open/git.ts";
import { status } from "../git/read/status.ts";

const mimeType = "application/json";
const description = "Branch, staged, unstaged and untracked files as JSON.";

export default resource({
  uriTemplate: "git://{repo}/status",
  name: "status",
  title: "Status",
  description,
  mimeType,
  async read({ repo }, git, call) {
    const { repository } = await openNamed(git, repo, call.signal);
    return JSON.stringify(await status(repository, {}, call), undefined, 2);
  },
  async list(git) {
    const trees = (await git.repositories()).filter((path) => existsSync(join(path, ".git")));
    const names = await Promise.all(trees.map((path) => git.nameOf(path)));
    const resources = names.map((name) => {
      const uri = `git://${encodeURIComponent(name)}/status`;
      return { uri, name, title: `Status of ${name}`, description, mimeType };
    });
    return { resources };
  },
  complete: { repo: completeRepository },
});
