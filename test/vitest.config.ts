import { availableParallelism, tmpdir } from "node:os";
import { mergeConfig } from "vitest/config";
import shared, { isLong } from "../vitest.shared.ts";

export default mergeConfig(shared, {
  test: {
    // Clones and installations are on the disk, where pnpm can link their files to its store.
    env: { TMPDIR: tmpdir() },
    // The long suite is the last to run: it then has the machine to itself and mostly waits for processes.
    ...(isLong ? { maxWorkers: Math.max(2, availableParallelism() - 1) } : {}),
  },
});
