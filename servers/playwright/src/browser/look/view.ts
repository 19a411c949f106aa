import { clip, sized, ToolError } from "@refmcp/boundary/answer";
import { isText, type RunStore } from "../store/runs.ts";
import { fitPicture } from "./picture.ts";

/** An artifact for display. */
export type View =
  | { readonly kind: "picture"; readonly caption: string; readonly base64: string }
  | { readonly kind: "text"; readonly text: string };

const MAX_PICTURE_BYTES = 40_000_000;
const MAX_TEXT_BYTES = 20_000_000;

/**
 * Shows an artifact of a run: a picture, or part of a text.
 *
 * @param name default: the first screenshot.
 * @throws ToolError `not_found`; `invalid` for any other kind, with its path.
 */
export async function viewArtifact(
  runs: RunStore,
  request: {
    readonly runId: string;
    readonly name: string | undefined;
    readonly offset: number;
    readonly budget: number;
  },
): Promise<View> {
  const { runId, offset, budget } = request;
  const name =
    request.name ??
    (await runs.artifacts(runId)).find(({ mimeType }) => mimeType === "image/png")?.name ??
    "report.json";
  const artifact = await runs.artifact(runId, name);
  if (artifact.mimeType === "image/png" && artifact.bytes <= MAX_PICTURE_BYTES) {
    const { png, scaled, width, height } = await fitPicture(await runs.read(artifact, MAX_PICTURE_BYTES));
    const size = `${width}x${height} px${scaled > 1 ? `, shown at 1/${scaled}` : ""}`;
    return {
      kind: "picture",
      caption: `${artifact.path} (${size}, ${sized(artifact.bytes)})`,
      base64: png.toString("base64"),
    };
  }
  if (!isText(artifact.mimeType)) {
    const instead = name.endsWith("trace.zip")
      ? "Call pw_inspect_trace for it."
      : `A person can open it: ${artifact.path}`;
    throw new ToolError(
      "invalid",
      `${name} (${artifact.mimeType}, ${sized(artifact.bytes)}) is neither a picture nor a text.`,
      { hint: instead },
    );
  }
  const text = (await runs.read(artifact, MAX_TEXT_BYTES)).toString("utf8");
  if (offset > 0 && offset >= text.length)
    throw new ToolError(
      "invalid",
      `offset ${offset} is past the end of ${name}, which has ${text.length} characters.`,
      { hint: "Pass a smaller offset." },
    );
  const shown = clip(text.slice(offset), budget - 500);
  const end = offset + shown.length;
  const rest =
    end < text.length
      ? `\n[characters ${offset} to ${end} of ${text.length}; continue with offset ${end}]`
      : "";
  return { kind: "text", text: `${shown}${rest}` };
}
