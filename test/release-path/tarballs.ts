import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { packAll } from "../../scripts/release/pack.mjs";
import { SERVERS } from "../servers.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The packages that users start, packed. */
    tarballs: readonly string[];
  }
}

/** Packs them once for all Node.js versions. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-tarballs-"));
  const folders = [...SERVERS.map((name) => `servers/${name}`), "packages/refmcp"];
  provide("tarballs", await packAll(folders, folder));
  return () => rm(folder, { recursive: true, force: true });
}
