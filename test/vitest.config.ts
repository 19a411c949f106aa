import { tmpdir } from "node:os";
import { mergeConfig } from "vitest/config";
import shared from "../vitest.shared.ts";

// Clones and installations are made on the disk: pnpm links their files to its store there.
export default mergeConfig(shared, { test: { env: { TMPDIR: tmpdir() } } });
