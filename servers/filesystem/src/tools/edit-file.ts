import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { diffText, expectedHash, path, tool } from "../context.ts";
import { edit, editAnswer, editMany, editManyAnswer } from "../files/edit/edit.ts";

/** Characters of an answer that are not the diff. */
const FACTS_CHARS = 1500;

export default tool({
  name: "edit_file",
  title: "Edit file",
  description:
    "Apply exact-text or regex replacements to a file, or to all files of a directory that match glob. All or none; returns a diff. Each oldText must occur exactly once in a file, or set replace_all.",
  effect: "change",
  view: "diff",
  toolset: "write",
  input: z.strictObject({
    path,
    edits: z
      .array(
        z.strictObject({
          oldText: z.string().describe("Exact text, without line numbers."),
          newText: z.string().describe("Its replacement."),
        }),
      )
      .min(1)
      .max(1000)
      .describe("Applied in order, each to the previous result."),
    dryRun: z.boolean().default(false).describe("Only show the diff."),
    regex: z
      .boolean()
      .default(false)
      .describe("oldText is a regular expression; newText may contain $1."),
    replace_all: z.boolean().default(false).describe("Replace every occurrence."),
    glob: z
      .string()
      .optional()
      .describe("With a directory as path: the files to edit, for example *.ts."),
    expected_hash: expectedHash,
  }),
  async run({ glob, expected_hash, ...input }, files, call) {
    const request = { ...input, signal: call.signal };
    if (glob === undefined) {
      const maxChars = call.budget - FACTS_CHARS;
      const edited = await edit(files, { ...request, expected_hash, maxChars });
      return diffText(editAnswer(edited, input.dryRun));
    }
    if (expected_hash !== undefined) {
      throw new ToolError("invalid", "expected_hash is for one file, but glob may match several.", {
        hint: "Omit one of the two.",
      });
    }
    const maxChars = Math.floor(call.budget / 2);
    const { dryRun } = input;
    const edited = await editMany(files, { ...request, glob, maxChars });
    return diffText(editManyAnswer(edited, { dryRun, maxChars }));
  },
});
