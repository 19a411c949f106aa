import * as z from "zod";
import { journaled, journalFacts, path, tool } from "../context.ts";

export default tool({
  name: "move_file",
  title: "Move or rename",
  description:
    "Move or rename a file, directory or link (not its target). " +
    "destination is the new path itself, not the directory to move into.",
  effect: "change",
  openWorld: false,
  input: z.strictObject({
    source: path,
    destination: path,
    overwrite: z.boolean().default(false).describe("Replace a file there; a directory is never replaced."),
  }),
  output: z.object({
    source: z.string(),
    destination: z.string(),
    replaced_bytes: z.number().optional(),
    ...journaled,
  }),
  async run(input, files, call) {
    const request = { ...input, signal: call.signal };
    const question = await files.moveQuestion(request);
    if (question !== undefined) await call.confirm(question);
    const { path, destination, replaced, receipt } = await files.move(request);
    return { source: path, destination, replaced_bytes: replaced, ...journalFacts(receipt) };
  },
});
