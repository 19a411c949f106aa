// Written by `pnpm generate`.
import blob from "./blob.ts";
import commit from "./commit.ts";
import diff from "./diff.ts";
import status from "./status.ts";
import tree from "./tree.ts";

export const resources = [blob, commit, diff, status, tree];
