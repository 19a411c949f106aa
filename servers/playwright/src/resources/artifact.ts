import { ToolError } from "@refmcp/boundary/answer";
import { isText, type RunStore } from "../browser/store/runs.ts";
import { resource } from "../context.ts";

const LISTED_RUNS = 5;
const MAX_BYTES = 8_000_000;

/**
 * The content of an artifact.
 *
 * @param path the path from the caller; only the artifact's own file is read.
 * @throws ToolError `not_found` for another path, `too_large`.
 */
export async function contentOf(runs: RunStore, id: string, name: string, path?: string) {
  const artifact = await runs.artifact(id, name);
  if (path !== undefined && path !== artifact.path)
    throw new ToolError("not_found", "This file is not an artifact of a run.", {
      hint: "Read a link from the answer of a run, or pw://runs/{run_id}/{artifact}.",
    });
  const content = await runs.read(artifact, MAX_BYTES);
  const { mimeType } = artifact;
  return isText(mimeType)
    ? { mimeType, text: content.toString("utf8") }
    : { mimeType, blob: content };
}

export default resource({
  uriTemplate: "pw://runs/{run_id}/{artifact}",
  name: "run-artifact",
  title: "An artifact of a run",
  description: "A screenshot, trace, HAR or report that a run kept.",
  read: ({ run_id: id, artifact: name }, { runs }) => contentOf(runs, id, name),
  async list({ runs }) {
    const resources = [];
    for (const id of (await runs.ids()).slice(0, LISTED_RUNS)) {
      for (const { name, bytes, mimeType } of await runs.artifacts(id))
        resources.push({
          uri: `pw://runs/${id}/${name}`,
          name: `${id}/${name}`,
          title: name,
          description: `Artifact of the run ${id}.`,
          mimeType,
          size: bytes,
        });
    }
    return { resources };
  },
  complete: {
    run_id: async (value, { runs }) => (await runs.ids()).filter((id) => id.startsWith(value)),
    artifact: async (value, { runs }, { run_id: id = "" }) =>
      (await runs.artifacts(id)).map(({ name }) => name).filter((name) => name.startsWith(value)),
  },
});
