import { sizeOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { expectedHash, path, tool } from "../context.ts";
import { confirmLoss } from "../files/change/answer.ts";
import { replacedBytes, write, writeAnswer } from "../files/edit/write.ts";

export default tool({
  name: "write_file",
  title: "Write file",
  description:
    "Create a text file, replace its whole content, or append to it; to change a part use edit_file.",
  effect: "change",
  toolset: "write",
  input: z.strictObject({
    path,
    content: z.string().describe("The text; appended in the file's encoding."),
    mode: z
      .enum(["overwrite", "create", "append"])
      .default("overwrite")
      .describe("create refuses an existing file; append adds at its end."),
    create_parents: z.boolean().default(false).describe("Create missing parent directories."),
    expected_hash: expectedHash,
  }),
  async run(input, files, call) {
    const { path } = input;
    const bytes = files.store.keeps ? 0 : await replacedBytes(files, input);
    const count = bytes === 0 ? 0 : 1;
    await confirmLoss(files, call, { verb: "Overwrite", path, count, what: ` (${sizeOf(bytes)})` });
    return writeAnswer(await write(files, { ...input, signal: call.signal }));
  },
});
