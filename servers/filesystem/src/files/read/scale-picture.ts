import { createJimp } from "@jimp/core";
import jpeg from "@jimp/js-jpeg";
import png from "@jimp/js-png";
import { methods } from "@jimp/plugin-resize";

/** Maximum side in pixels: models scale larger images down themselves, and refuse requests with many larger ones. */
const MAX_SIDE = 2_000;
const QUALITY = 85;

/** Plain data, so that a thread can do it. */
export interface PictureWork {
  readonly bytes: Uint8Array;
  readonly maxPixels: number;
  /** Maximum bytes of a PNG in the result. */
  readonly maxBytes: number;
}

export interface ScaledPicture {
  readonly mime: "image/jpeg" | "image/png";
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

const Jimp = createJimp({ formats: [jpeg, png], plugins: [methods] });

/**
 * Scales a JPEG or PNG to fit into an answer, rotated by its EXIF data. A PNG stays a PNG if that is small enough.
 *
 * @returns undefined if the image cannot be decoded.
 */
export async function scalePicture({
  bytes,
  maxPixels,
  maxBytes,
}: PictureWork): Promise<ScaledPicture | undefined> {
  // Limits for the decoder, which may find a different size than in the header.
  const limits = { maxResolutionInMP: maxPixels / 1e6, maxMemoryUsageInMB: 2_048 };
  const image = await Jimp.fromBuffer(Buffer.from(bytes), { "image/jpeg": limits }).catch(() => undefined);
  if (image === undefined) return undefined;
  const side = Math.max(image.width, image.height);
  const factor = Math.min(1, MAX_SIDE / side);
  const w = Math.max(1, Math.round(image.width * factor));
  const h = Math.max(1, Math.round(image.height * factor));
  image.resize({ w, h });
  const size = { width: w, height: h };
  if (image.mime === "image/png") {
    const encoded = await image.getBuffer("image/png");
    if (encoded.length <= maxBytes) return { mime: "image/png", bytes: encoded, ...size };
  }
  const page = new Jimp({ ...size, color: 0xffffffff }).composite(image);
  return { mime: "image/jpeg", bytes: await page.getBuffer("image/jpeg", { quality: QUALITY }), ...size };
}
