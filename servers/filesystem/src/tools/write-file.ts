import * as z from "zod";
import { expectedHash, path, tool } from "../context.ts";
import { writeAnswer } from "../files/edit/write.ts";

export default tool({
  name: "write_file",
  title: "Write file",
  description:
    "Create a text file, replace its whole content, or append to it; to change a part use edit_file.",
  effect: "change",
  toolset: "write",
  input: z.strictObject({
    path,
    content: z.string().describe("The text; UTF-8, or the file's encoding when appended."),
    mode: z
      .enum(["overwrite", "create", "append"])
      .default("overwrite")
      .describe("create refuses an existing file."),
    create_parents: z.boolean().default(false).describe("Create missing parent directories."),
    expected_hash: expectedHash,
  }),
  async run(input, files, call) {
    const question = await files.overwriteQuestion(input.path, input.mode);
    if (question !== undefined) await call.confirm(question);
    return writeAnswer(await files.write({ ...input, signal: call.signal }));
  },
});
