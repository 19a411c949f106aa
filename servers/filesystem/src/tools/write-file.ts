import * as z from "zod";
import { expectedHash, path, tool } from "../context.ts";
import { TRANSFORMS } from "../files/edit/transform.ts";
import { writeAnswer } from "../files/edit/write.ts";

export default tool({
  name: "write_file",
  title: "Write file",
  description:
    "Create a text file, replace its whole content, or append to it; to change a part use edit_file. " +
    "parts merge, split or sort files without their text passing through you.",
  effect: "change",
  toolset: "write",
  input: z.strictObject({
    path,
    content: z.string().optional().describe("The text; appended in the file's encoding."),
    parts: z
      .array(
        z.strictObject({
          path: z.string().optional(),
          from: z.int().min(1).max(1e9).optional().describe("First line, from 1."),
          to: z.int().min(1).max(1e9).optional().describe("Last line."),
          encoding: z.string().optional().describe("If it is not UTF-8."),
          text: z.string().optional(),
        }),
      )
      .min(1)
      .max(1000)
      .optional()
      .describe(
        "Instead of content: files (documents as text), lines of files and text, joined in order.",
      ),
    transform: z
      .array(z.enum(TRANSFORMS))
      .max(6)
      .optional()
      .describe(
        "Change the text or its lines, in this order; trim: at line ends; sort: numbers by value.",
      ),
    mode: z
      .enum(["overwrite", "create", "append"])
      .default("overwrite")
      .describe("create refuses an existing file; append adds at its end."),
    create_parents: z.boolean().default(false).describe("Create missing parent directories."),
    expected_hash: expectedHash,
  }),
  async run(input, files, call) {
    const question = await files.overwriteQuestion(input.path, input.mode);
    if (question !== undefined) await call.confirm(question);
    return writeAnswer(await files.write({ ...input, signal: call.signal }));
  },
});
