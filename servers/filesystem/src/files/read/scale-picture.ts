import { createJimp } from "@jimp/core";
import jpeg from "@jimp/js-jpeg";
import png from "@jimp/js-png";
import { methods } from "@jimp/plugin-resize";

/** Maximum side in pixels: models scale larger images down themselves, and refuse requests with many larger ones. */
const MAX_SIDE = 2_000;
const QUALITY = 85;

const Jimp = createJimp({ formats: [jpeg, png], plugins: [methods] });

/**
 * Scales a JPEG or PNG to fit into an answer, rotated by its EXIF data. A PNG stays a PNG if it is at most `maxBytes`.
 *
 * @returns undefined if the image cannot be decoded.
 */
export async function scalePicture({
  bytes,
  maxPixels,
  maxBytes,
}: {
  bytes: Uint8Array;
  maxPixels: number;
  maxBytes: number;
}): Promise<{ mime: string; bytes: Uint8Array; width: number; height: number } | undefined> {
  // Limits for the decoder, which may find a different size than in the header.
  const limits = { maxResolutionInMP: maxPixels / 1e6, maxMemoryUsageInMB: 2_048 };
  const image = await Jimp.fromBuffer(Buffer.from(bytes), { "image/jpeg": limits }).catch(
    () => undefined,
  );
  if (image === undefined) return undefined;
  const factor = Math.min(1, MAX_SIDE / Math.max(image.width, image.height));
  const width = Math.max(1, Math.round(image.width * factor));
  const height = Math.max(1, Math.round(image.height * factor));
  image.resize({ w: width, h: height });
  if (image.mime === "image/png") {
    const encoded = await image.getBuffer("image/png");
    if (encoded.length <= maxBytes) return { mime: "image/png", bytes: encoded, width, height };
  }
  const page = new Jimp({ width, height, color: 0xffffffff }).composite(image);
  const encoded = await page.getBuffer("image/jpeg", { quality: QUALITY });
  return { mime: "image/jpeg", bytes: encoded, width, height };
}
