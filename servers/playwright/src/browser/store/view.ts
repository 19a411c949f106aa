import { clip, sizeOf, ToolError } from "@refmcp/boundary/answer";
import { isText, type RunStore } from "./runs.ts";

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
  {
    runId,
    offset,
    budget,
    ...request
  }: { runId: string; name: string | undefined; offset: number; budget: number },
): Promise<{ text: string; png?: Buffer }> {
  const name =
    request.name ??
    (await runs.artifacts(runId)).find(({ mimeType }) => mimeType === "image/png")?.name ??
    "report.json";
  const artifact = await runs.artifact(runId, name);
  if (artifact.mimeType === "image/png" && artifact.bytes <= MAX_PICTURE_BYTES) {
    const { png, scaled, width, height } = await fitPicture(
      await runs.read(artifact, MAX_PICTURE_BYTES),
    );
    const size = `${width}x${height} px${scaled > 1 ? `, shown at 1/${scaled}` : ""}`;
    return { text: `${artifact.path} (${size}, ${sizeOf(artifact.bytes)})`, png };
  }
  if (!isText(artifact.mimeType)) {
    throw new ToolError(
      "invalid",
      `${name} (${artifact.mimeType}, ${sizeOf(artifact.bytes)}) is neither a picture nor a text.`,
      { hint: `A person can open it (a trace with npx playwright show-trace): ${artifact.path}` },
    );
  }
  const text = (await runs.read(artifact, MAX_TEXT_BYTES)).toString("utf8");
  const excerpt = clip(text.slice(offset), budget - 500);
  const end = offset + excerpt.length;
  const rest =
    end < text.length
      ? `\n[characters ${offset} to ${end} of ${text.length}; continue with offset ${end}]`
      : "";
  return { text: `${excerpt}${rest}` };
}

/** Hosts scale down or refuse pictures larger than about this many pixels each way. */
const MAX_PIXELS = 1_568;

/** A PNG for a model, scaled down by a whole factor if it is too large. */
async function fitPicture(
  png: Buffer,
): Promise<{ png: Buffer; scaled: number; width: number; height: number }> {
  const { PNG } = (await import("pngjs")).default;
  const picture = PNG.sync.read(png);
  const { width, height } = picture;
  const factor = Math.ceil(Math.max(width, height) / MAX_PIXELS);
  if (factor <= 1) return { png, scaled: 1, width, height };
  const small = new PNG({
    width: Math.max(1, Math.floor(width / factor)),
    height: Math.max(1, Math.floor(height / factor)),
  });
  for (let y = 0; y < small.height; y++)
    for (let x = 0; x < small.width; x++) {
      const from = (y * factor * width + x * factor) * 4;
      picture.data.copy(small.data, (y * small.width + x) * 4, from, from + 4);
    }
  return { png: PNG.sync.write(small), scaled: factor, width, height };
}
