import { existsSync } from "node:fs";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import { SERVERS, serverBin, serverFolder } from "../servers.ts";

/** The built servers that have the manifest of a published one, sorted. */
export const READY: readonly string[] = SERVERS.filter(
  (name) => existsSync(serverBin(name)) && existsSync(join(serverFolder(name), "server.json")),
);

/** The server that the release path runs the official suite against; it has tools, resources and prompts. */
export const RELEASE_SERVER = "filesystem";

/** How a server process is started. */
export interface ServerProcess {
  /** The file that Node.js runs. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a built server is started in a world of its fixture. */
export function inWorld(
  name: string,
  { args, env = {} }: Pick<World, "args" | "env">,
): ServerProcess {
  return { file: serverBin(name), args, env };
}
