import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder for what test files share, removed after the run: the processes that run tests are killed. */
    shared: string;
  }
}

export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "refmcp-shared-"));
  provide("shared", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
