import { randomBytes } from "node:crypto";
import { createJimp } from "@jimp/core";
import jpeg from "@jimp/js-jpeg";
import png from "@jimp/js-png";
import { imageSize } from "image-size";
import { describe, expect, it, onTestFinished } from "vitest";
import { itLong } from "../../../../vitest.long.ts";
import { type Scratch, scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import readMediaFile from "./read-media-file.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");

it("shows an image, links to large files, and refers to another tool for text", async () => {
  const { files, put, at } = await scratch();
  await put("a.png", PNG);
  expect(await use(readMediaFile, files, { path: "a.png" })).toEqual([
    { type: "image", data: PNG.toString("base64"), mimeType: "image/png" },
  ]);
  await put("large.png", Buffer.concat([PNG, Buffer.alloc(4_000_000)]));
  expect(await use(readMediaFile, files, { path: "large.png" })).toEqual([
    {
      type: "resource_link",
      uri: `file://${at("large.png")}`,
      name: "large.png",
      mimeType: "image/png",
      size: 4_000_029,
    },
    {
      type: "text",
      text: `[A link only: image/png, 3.8 MiB, too large, and damaged, so it was not scaled. file://${at("large.png")}]`,
    },
  ]);
  await put("a.txt", "text");
  await expect(use(readMediaFile, files, { path: "a.txt" })).rejects.toMatchObject({
    hint: "Use read_text_file.",
  });
});

it("shows an SVG as text", async () => {
  const { files, put } = await scratch();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>\n';
  await put("a.svg", svg);
  expect(await use(readMediaFile, files, { path: "a.svg" })).toBe(svg);
});

const Jimp = createJimp({ formats: [jpeg, png] });

/** Noise, dark red on the left and light blue on the right, which is large in any format. */
function noisy(width: number, height: number) {
  const image = new Jimp({ width, height });
  const noise = randomBytes(width * height);
  for (let at = 0; at < noise.length; at++) {
    const value = (noise[at] ?? 0) % 64;
    const color =
      at % width < width / 2
        ? [100 + value, value, value, 255]
        : [150 + value, 150 + value, 255, 255];
    image.bitmap.data.set(color, at * 4);
  }
  return image;
}

/** A JPEG with the EXIF orientation of a camera turned on its side. */
function turned(bytes: Buffer, orientation: number): Buffer {
  const tiff = Buffer.from(`4d4d002a000000080001011200030000000100${"00"}000000000000`, "hex");
  tiff.writeUInt16BE(orientation, 18);
  const exif = Buffer.concat([Buffer.from("Exif\0\0"), tiff]);
  const marker = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([bytes.subarray(0, 2), marker, exif, bytes.subarray(2)]);
}

async function shown({ files }: Scratch, path: string) {
  onTestFinished(() => files.close());
  const answer = await use(readMediaFile, files, { path });
  if (typeof answer === "string") throw new Error(answer);
  const [picture, fact] = answer;
  const bytes = picture?.type === "image" ? Buffer.from(picture.data, "base64") : undefined;
  return {
    text: fact?.type === "text" ? fact.text : undefined,
    mime: picture?.type === "image" ? picture.mimeType : undefined,
    bytes,
    image: bytes === undefined ? undefined : await Jimp.fromBuffer(bytes),
  };
}

/** The channels of a pixel at a position in percent of the image's width and height. */
function colorAt(
  image: Awaited<ReturnType<typeof shown>>["image"],
  x: number,
  y: number,
): number[] {
  if (image === undefined) return [];
  const at =
    4 * (Math.floor((image.height * y) / 100) * image.width + Math.floor((image.width * x) / 100));
  return [...image.bitmap.data.subarray(at, at + 4)];
}

const RED = [
  expect.toSatisfy((red) => red > 90 && red < 180),
  expect.toSatisfy((green) => green < 80),
];
const BLUE = [expect.toSatisfy((red) => red > 120), expect.toSatisfy((green) => green > 120)];

describe("an image too large for a response", () => {
  itLong(
    "is scaled and rotated by its EXIF data, and the response gives the original size",
    async () => {
      const place = await scratch();
      const photo = await noisy(3000, 2000).getBuffer("image/jpeg", { quality: 97 });
      expect(photo.length).toBeGreaterThan(3_750_000);
      await place.put("a.jpg", turned(photo, 6));
      const { image, bytes, text, mime } = await shown(place, "a.jpg");
      expect(imageSize(bytes ?? Buffer.of())).toMatchObject({
        width: 1333,
        height: 2000,
        type: "jpg",
      });
      expect(mime).toBe("image/jpeg");
      expect(text).toMatch(
        /^\[Scaled to 1,333 × 2,000 pixels \(image\/jpeg\) from 2,000 × 3,000 \(.* MiB\)\.\]$/,
      );
      // Rotated clockwise, the left side is on top.
      for (const x of [20, 80]) {
        expect(colorAt(image, x, 20).slice(0, 2)).toEqual(RED);
        expect(colorAt(image, x, 80).slice(0, 2)).toEqual(BLUE);
      }
    },
  );

  it("stays a transparent PNG if that is small; noise becomes a JPEG on white", async () => {
    const place = await scratch();
    const wide = new Jimp({ width: 9000, height: 40, color: 0x00ff0080 });
    await place.put("wide.png", await wide.getBuffer("image/png"));
    const png = await shown(place, "wide.png");
    expect(png.text).toContain("[Scaled to 2,000 × 9 pixels (image/png) from 9,000 × 40");
    expect(colorAt(png.image, 50, 50)).toEqual([0, 255, 0, 128]);

    const noise = noisy(1800, 1200);
    noise.bitmap.data.fill(0, 0, 4 * 1800 * 300);
    await place.put("noise.png", await noise.getBuffer("image/png"));
    const jpg = await shown(place, "noise.png");
    expect(jpg.text).toContain("[Scaled to 1,800 × 1,200 pixels (image/jpeg) from 1,800 × 1,200");
    expect(colorAt(jpg.image, 20, 10)).toEqual([255, 255, 255, 255]);
    expect(colorAt(jpg.image, 20, 80).slice(0, 2)).toEqual(RED);
  });

  it("is decoded in a thread: other calls are answered, and the call can be cancelled", async () => {
    const { files, put } = await scratch();
    onTestFinished(() => files.close());
    const wide = new Jimp({ width: 9000, height: 200, color: 0x00ff0080 });
    await put("a.png", await wide.getBuffer("image/png"));
    const answered: string[] = [];
    const picture = files.readMedia("a.png").then(() => answered.push("picture"));
    for (let call = 0; call < 20; call++)
      await files.info("a.png").then(() => answered.push("info"));
    await picture;
    expect(answered.at(-1)).toBe("picture");
    const controller = new AbortController();
    const cancelled = expect(files.readMedia("a.png", controller.signal)).rejects.toThrow(
      "taken back",
    );
    controller.abort(new Error("taken back"));
    await cancelled;
  });
});

describe("an image that is not decoded", () => {
  /** A PNG header without an image. */
  function header(width: number, height: number, interlaced = 0): Buffer {
    const bytes = Buffer.from(
      "89504e470d0a1a0a0000000d49484452000000000000000008060000000000000000000000",
      "hex",
    );
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    bytes[28] = interlaced;
    return bytes;
  }

  it.each([
    [
      "of too many pixels",
      header(65_000, 65_000),
      "65,000 × 65,000 pixels, more than the 64,000,000 that can be decoded",
    ],
    ["interlaced", header(9_000, 90, 1), "too large, and interlaced PNGs are not scaled"],
    ["damaged", header(9_000, 90), "too large, and damaged, so it was not scaled"],
    ["cut", Buffer.concat([header(0, 0), Buffer.alloc(4_000_000)]), "damaged"],
    [
      "GIF",
      Buffer.concat([Buffer.from("GIF89a"), Buffer.alloc(4_000_000)]),
      "more than the 3.6 MiB that can be shown",
    ],
  ])("because it is %s is returned as a link with the reason", async (_, bytes, why) => {
    const place = await scratch();
    await place.put("a", bytes);
    expect(await shown(place, "a")).toMatchObject({
      text: expect.stringContaining(why),
      image: undefined,
    });
  });
});
