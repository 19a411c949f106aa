import { existsSync } from "node:fs";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { bundleServer } from "../bundle.ts";
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

/** The server built on core that has what the official suite asks for, for the tests of a suite. */
export function useFixture(): () => URL {
  let server: HttpProcess | undefined;
  let removeBundle: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const { file, remove } = await bundleServer("conformance/fixtures/everything.ts");
    removeBundle = remove;
    // The suite expects a task from a call that takes a second.
    server = await startHttp(file, { args: ["--task-after-ms", "300"] });
  });
  afterAll(async () => {
    const ended = await server?.stop();
    await removeBundle?.();
    expect(ended?.code).toBe(0);
  });
  return () => {
    if (server === undefined) throw new Error("The fixture server does not listen yet.");
    return server.url;
  };
}
