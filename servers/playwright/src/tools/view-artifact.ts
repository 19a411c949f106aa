import * as z from "zod";
import { viewArtifact } from "../browser/store/view.ts";
import { runId, tool } from "../context.ts";

export default tool({
  name: "pw_view_artifact",
  title: "Look at an artifact",
  description: "Show a screenshot of a run, or read a text artifact.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    run_id: runId,
    name: z
      .string()
      .optional()
      .describe("The artifact's name: home.png. Default: the first screenshot."),
    offset: z.int().min(0).max(100_000_000).default(0).describe("Start of a text, in characters."),
  }),
  async run({ run_id: id, name, offset }, { runs }, call) {
    const view = await viewArtifact(runs, { runId: id, name, offset, budget: call.budget });
    if (view.png === undefined) return view.text;
    return [
      { type: "text", text: view.text },
      { type: "image", data: view.png.toString("base64"), mimeType: "image/png" },
    ];
  },
});
