import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { World } from "@refmcp/core/testing";
import { ROOT, serverNames } from "../scripts/lib/setup.mjs";

export { ROOT };

/** The names of all servers, sorted. */
export const SERVERS: readonly string[] = serverNames();

/** The folder of a server. */
export function serverFolder(name: string): string {
  return join(ROOT, "servers", name);
}

/** The built server that a host starts. */
export function serverBin(name: string): string {
  return join(serverFolder(name), "dist", "bin.js");
}

/** A fresh world of the server's own fixture, `test/fixture.ts`. */
export async function serverWorld(name: string): Promise<World> {
  const fixture: { world(): Promise<World> } = await import(
    pathToFileURL(join(serverFolder(name), "test", "fixture.ts")).href
  );
  return fixture.world();
}
