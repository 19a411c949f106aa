import { tmpdir } from "node:os";
import { mergeConfig } from "vitest/config";
import shared from "../vitest.shared.ts";

const isLong = process.argv.slice(2).some((argument) => argument.includes(".long"));

// Clones and installations are on the disk, where pnpm can link their files to its store.
export default mergeConfig(shared, {
  test: {
    env: { TMPDIR: tmpdir() },
    globalSetup: "shared-folder.ts",
    // The long tests mostly wait for processes and installations, and run when few other suites are left.
    ...(isLong && { maxWorkers: 2 }),
  },
});
