import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "sample_tool",
  title: "Sample tool",
  description: "Count the characters, words and lines of a text. It reads no file.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    text: z.string().max(10_000).describe("The text to count, for example a paragraph."),
  }),
  output: z.object({ characters: z.number(), words: z.number(), lines: z.number() }),
  run: ({ text }) => ({
    characters: [...text].length,
    words: text.match(/\S+/g)?.length ?? 0,
    lines: text === "" ? 0 : text.split("\n").length,
  }),
});
