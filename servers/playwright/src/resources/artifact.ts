import { isText } from "../browser/store/runs.ts";
import { resource } from "../context.ts";

/** Runs whose artifacts are listed; older ones are found by completion. */
const LISTED_RUNS = 5;
/** The largest artifact that is sent; larger ones have their path. */
const MOST_BYTES = 8_000_000;

export default resource({
  uriTemplate: "pw://runs/{run_id}/{artifact}",
  name: "run-artifact",
  title: "An artifact of a run",
  description: "A screenshot, trace, HAR, video or report that a run kept.",
  async read({ run_id: id, artifact: name }, { tester }) {
    const artifact = await tester.runs.artifact(id, name);
    const content = await tester.runs.readWhole(artifact, MOST_BYTES);
    const { mimeType } = artifact;
    return isText(mimeType) ? { mimeType, text: content.toString("utf8") } : { mimeType, blob: content };
  },
  async list({ tester }) {
    const resources = [];
    for (const id of (await tester.runs.ids()).slice(0, LISTED_RUNS)) {
      for (const { name, bytes, mimeType } of await tester.runs.artifacts(id))
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
    run_id: async (value, { tester }) => (await tester.runs.ids()).filter((id) => id.startsWith(value)),
    artifact: async (value, { tester }, { run_id: id = "" }) =>
      (await tester.runs.artifacts(id)).map(({ name }) => name).filter((name) => name.startsWith(value)),
  },
});
