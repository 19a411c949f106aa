import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connected, type ConnectOptions, connectInMemory } from "@refmcp/testing";
import { server } from "../src/server.ts";

/** A client of a server in this process. */
export interface Talk {
  readonly connected: Connected;
  /** Calls a tool; returns its text and whether it is an error. */
  call(name: string, args?: Record<string, unknown>): Promise<{ text: string; isError: boolean }>;
  /** Calls a tool that must return data. */
  data(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function talk(
  args: readonly string[],
  options: Omit<ConnectOptions, "args"> = {},
): Promise<Talk> {
  // Changes are not recorded in the state directory of whoever runs the tests.
  const state = await mkdtemp(join(tmpdir(), "refmcp-sqlite-state-"));
  const given = args.includes("--undo-dir") ? args : [...args, "--undo-dir", state];
  const connected = await connectInMemory(server, { ...options, args: given });
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const result = await connected.client.callTool({ name, arguments: given });
    const text = result.content
      .map((block) => (block.type === "text" ? block.text : ""))
      .join("\n");
    return { text, isError: result.isError === true };
  };
  return {
    connected,
    call,
    async data(name, given) {
      const { text, isError } = await call(name, given);
      if (isError) throw new Error(`${name}: ${text}`);
      return JSON.parse(text);
    },
    async close() {
      await connected.close();
      await rm(state, { recursive: true, force: true });
    },
  };
}
