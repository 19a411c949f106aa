import * as z from "zod";
import { moves, tool } from "../context.ts";
import { runMoves } from "../files/change/answer.ts";

export default tool({
  name: "copy_file",
  title: "Copy",
  description:
    "Copy a file or a directory with its contents, or many in one call: moves, or a pattern as source. " +
    "Checks everything first and creates missing parents.",
  effect: "change",
  toolset: "write",
  input: z.strictObject(moves),
  run: (input, files, call) => runMoves(files, { ...input, action: "copy" }, call),
});
