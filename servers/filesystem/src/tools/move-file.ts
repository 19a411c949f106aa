import * as z from "zod";
import { moves, tool } from "../context.ts";
import { runMoves } from "../files/change/answer.ts";

export default tool({
  name: "move_file",
  title: "Move or rename",
  description:
    "Move or rename a file, directory or symlink (not its target), or many in one call: moves, or a pattern as source. " +
    "Checks everything first, creates missing parents; undo_change undoes the whole call.",
  effect: "change",
  toolset: "write",
  input: z.strictObject(moves),
  run: (input, files, call) => runMoves(files, { ...input, action: "move" }, call),
});
