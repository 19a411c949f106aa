import { join } from "node:path";
import { type Connected, type ConnectOptions, connectInMemory } from "@refmcp/testing";
import { onTestFinished } from "vitest";
import { server } from "../src/server.ts";
import { temporary } from "./temporary.ts";

/** A client of the server in this process, over an empty memory. */
export interface Session {
  readonly folder: string;
  readonly connected: Connected;
  /** Calls a tool and returns its data. */
  data(tool: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Calls a tool that fails, and returns its message. */
  failure(tool: string, args?: Record<string, unknown>): Promise<string>;
}

/** Opens a session, until the test ends. */
export async function session(options: ConnectOptions = {}): Promise<Session> {
  const folder = await temporary();
  const file = join(folder, "memory.db");
  const args = ["--file", file, "--root", folder, "--toolsets", "all", ...(options.args ?? [])];
  const connected = await connectInMemory(server, { ...options, args });
  onTestFinished(() => connected.close());
  const call = (name: string, args: Record<string, unknown> = {}) =>
    connected.client.callTool({ name, arguments: args });
  return {
    folder,
    connected,
    async data(tool, args) {
      const result = await call(tool, args);
      if (result.isError === true || result.structuredContent === undefined)
        throw new Error(JSON.stringify(result.content));
      return { ...result.structuredContent };
    },
    async failure(tool, args) {
      const result = await call(tool, args);
      const [block] = result.content;
      if (result.isError !== true || block?.type !== "text") throw new Error("it did not fail");
      return block.text;
    },
  };
}

/** Ada knows Bo, who knows Cy; each with a fact. */
export async function circle(options?: ConnectOptions): Promise<Session> {
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
