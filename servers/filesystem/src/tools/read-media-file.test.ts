import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
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
      text: `[A link only: image/png, 3.8 MiB, more than the 3.6 MiB that can be shown; scale it down with another program first. file://${at("large.png")}]`,
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
