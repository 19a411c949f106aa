import { sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

export default tool({
  name: "move_file",
  title: "Move or rename",
  description:
    "Move or rename a file, directory or symlink (not its target). " +
    "destination is the new path itself, not the directory to move into.",
  effect: "change",
  toolset: "write",
  input: z.strictObject({
    source: path,
    destination: path,
    overwrite: z.boolean().default(false).describe("Replace an existing file."),
  }),
  async run(input, files, call) {
    const request = { ...input, signal: call.signal };
    const question = await files.replaceQuestion(request);
    if (question !== undefined) await call.confirm(question);
    const { path, destination, replaced, receipt } = await files.move(request);
    const bytes = replaced === undefined ? "" : `, replacing ${sized(replaced)}`;
    return changeAnswer(`Moved ${named(path)} to ${named(destination)}${bytes}.`, receipt);
  },
});
