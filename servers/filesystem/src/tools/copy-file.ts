import { sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { describe } from "../files/change/entries.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

const MAX_SKIPPED = 50;

export default tool({
  name: "copy_file",
  title: "Copy",
  description: "Copy a file or a directory with its contents. destination is the path of the copy itself.",
  effect: "change",
  toolset: "write",
  input: z.strictObject({
    source: path,
    destination: path,
    overwrite: z.boolean().default(false).describe("Replace an existing file."),
  }),
  async run(input, files, call) {
    const progress = (done: number, total: number) => call.progress(done, total);
    const request = { ...input, progress, signal: call.signal };
    const question = await files.replaceQuestion(request);
    if (question !== undefined) await call.confirm(question);
    const copied = await files.copy(request);
    const { skipped, replaced, receipt } = copied;
    const done = `Copied ${named(copied.path)} to ${named(copied.destination)}: ${describe({ ...copied, others: 0 })}`;
    const bytes = replaced === undefined ? "" : `, replacing ${sized(replaced)}`;
    const more = skipped.length - MAX_SKIPPED;
    const left = skipped.slice(0, MAX_SKIPPED).map(named).join(", ") + (more > 0 ? ` and ${more} more` : "");
    const note =
      skipped.length === 0 ? "" : ` Skipped, because they lead outside or are not regular files: ${left}.`;
    return changeAnswer(`${done}${bytes}.${note}`, receipt);
  },
});
