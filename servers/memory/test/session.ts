import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connected, type ConnectOptions, connectInMemory } from "@refmcp/testing";
import { server } from "../src/server.ts";

/** A client of the server in this process, over an empty memory. */
export interface Session {
  readonly folder: string;
  readonly connected: Connected;
  /** Calls a tool and returns its data. */
  data(tool: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Calls a tool that fails, and returns its message. */
  failure(tool: string, args?: Record<string, unknown>): Promise<string>;
}

interface SessionOptions extends ConnectOptions {
  /** Prepares the folder before the server is connected; returns more arguments. */
  prepare?(folder: string): Promise<readonly string[]>;
}

const open: (() => Promise<void>)[] = [];

/** Closes and deletes what a test opened; `setup.ts` calls it after the test. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** Opens a session, which is closed and deleted after the test. */
export async function session({ prepare, ...options }: SessionOptions = {}): Promise<Session> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-session-"));
  const more = await prepare?.(folder);
  open.push(() => rm(folder, { recursive: true, force: true }));
  const args = [
    "--file",
    join(folder, "memory.db"),
    "--root",
    folder,
    "--toolsets",
    "all",
    ...(options.args ?? []),
    ...(more ?? []),
  ];
  const connected = await connectInMemory(server, { ...options, args });
  open.push(() => connected.close());
  const call = (name: string, given: Record<string, unknown> = {}) =>
    connected.client.callTool({ name, arguments: given });
  return {
    folder,
    connected,
    async data(tool, given) {
      const result = await call(tool, given);
      if (result.isError === true || result.structuredContent === undefined)
        throw new Error(JSON.stringify(result.content));
      return { ...result.structuredContent };
    },
    async failure(tool, given) {
      const result = await call(tool, given);
      const [block] = result.content;
      if (result.isError !== true || block?.type !== "text") throw new Error("it did not fail");
      return block.text;
    },
  };
}

/** Ada knows Bo, who knows Cy; each with a fact. */
export async function circle(options?: SessionOptions): Promise<Session> {
  const opened = await session(options);
  await opened.data("create_entities", {
    entities: ["Ada", "Bo", "Cy"].map((name) => ({
      name,
      entityType: "person",
      observations: [`${name} likes tea`],
    })),
  });
  await opened.data("create_relations", {
    relations: [
      { from: "Ada", to: "Bo", relationType: "knows" },
      { from: "Bo", to: "Cy", relationType: "knows" },
    ],
  });
  return opened;
}
