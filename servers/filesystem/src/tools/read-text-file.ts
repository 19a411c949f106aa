import { HARD_ANSWER_CHARS, largeAnswers } from "@refmcp/boundary/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { factsLine, onItsOwn } from "../files/read/facts-line.ts";
import { readText, textChars } from "../files/read/read-text.ts";
import { encodingNamed } from "../files/read/text-encoding.ts";

const line = z.int().min(1).max(1_000_000_000).optional();

export default tool({
  name: "read_text_file",
  title: "Read text file",
  description:
    "Read a text file or document (Office, PDF, EPUB, mail, notebook, archive) or some of its lines. " +
    "For images use read_media_file. The server adds a last line: [range shown, how to continue, hash].",
  effect: "read",
  toolset: "read",
  // An explicit range may be longer than a usual answer.
  meta: largeAnswers(HARD_ANSWER_CHARS),
  aliases: ["read_file"],
  input: z.strictObject({
    path,
    head: line.describe("First lines only."),
    tail: line.describe("Last lines only."),
    offset: line.describe("First line, from 1."),
    limit: line.describe("Maximum lines."),
    column: line.describe("First character of a long line."),
    line_numbers: z.boolean().default(false).describe("Prefix lines with number and tab."),
    encoding: z.string().optional().describe("For example gbk; detected by default."),
  }),
  async run({ path, line_numbers, encoding, ...range }, files, call) {
    const { head, tail, offset, limit, column } = range;
    const explicit = [head, tail, offset, limit, column].some((bound) => bound !== undefined);
    const part = await readText(files, path, {
      ...range,
      encoding: encoding === undefined ? undefined : encodingNamed(encoding),
      lineNumbers: line_numbers,
      maxChars: textChars(call.budget, explicit),
      signal: call.signal,
    });
    // Two blocks, so that programs get exactly the file's text, and the file cannot imitate the second.
    const facts = { type: "text" as const, text: onItsOwn(part.text) + factsLine(part) };
    return part.text === "" ? [facts] : [{ type: "text" as const, text: part.text }, facts];
  },
});
