import * as z from "zod";
import { changeTool as tool } from "../../context.ts";
import { sparse, sparseCheckout } from "../../repository/change/sparse.ts";

export default tool({
  name: "git_sparse_checkout",
  title: "Sparse checkout",
  description:
    "Choose which directories the working tree has, in a large repository. Refuses if changed or ignored files would be lost.",
  effect: "change",
  toolset: "extra",
  input: {
    action: z
      .enum(["list", "set", "add", "disable"])
      .default("list")
      .describe("set: only these; add: these too; disable: all files again."),
    directories: z
      .array(z.string())
      .min(1)
      .max(1_000)
      .optional()
      .describe("set, add: relative to the root."),
  },
  output: sparse,
  run: sparseCheckout,
});
