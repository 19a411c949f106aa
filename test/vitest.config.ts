import { tmpdir } from "node:os";
import { mergeConfig } from "vitest/config";
import shared from "../vitest.shared.ts";

// Clones and installations are on the disk, where pnpm can link their files to its store.
export default mergeConfig(shared, {
  test: { env: { TMPDIR: tmpdir() }, globalSetup: "shared-folder.ts" },
});
