import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Connected,
  type ConnectOptions,
  connectInMemory,
  connectStdio,
} from "@refmcp/testing";
import { server } from "../src/server.ts";

/** A client of the server in this process. */
export interface Talk {
  readonly connected: Connected;
  /** Calls a tool; the text and whether it is an error. */
  call(
    name: string,
    args?: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<{ text: string; isError: boolean }>;
  /** Calls a tool that must answer with data. */
  data(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Changes are recorded in a directory of the test, not in the user's. */
const state = mkdtempSync(join(tmpdir(), "refmcp-postgres-state-"));
process.once("exit", () => rmSync(state, { recursive: true, force: true }));
const withState = (args: readonly string[]) =>
  args.includes("--undo-dir") ? args : [...args, "--undo-dir", state];

export async function talk(
  args: readonly string[],
  options: Omit<ConnectOptions, "args"> = {},
): Promise<Talk> {
  return talking(await connectInMemory(server, { ...options, args: withState(args) }));
}

/** The same with the built server as a separate process. */
export async function talkToProcess(
  args: readonly string[],
  options: Omit<ConnectOptions, "args"> = {},
): Promise<Talk> {
  const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
  return talking(await connectStdio(bin, { ...options, args: withState(args) }));
}

function talking(connected: Connected): Talk {
  const call = async (name: string, given: Record<string, unknown> = {}, signal?: AbortSignal) => {
    const result = await connected.client.callTool(
      { name, arguments: given },
      signal === undefined ? undefined : { signal },
    );
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
    close: () => connected.close(),
  };
}
