import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyServable } from "@refmcp/core/run";
import {
  type Connected,
  type ConnectOptions,
  connectInMemory,
  connectStdio,
} from "@refmcp/testing";

/** A client of a server. */
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
  /** Calls a tool that must fail; the text of the error. */
  refused(name: string, args?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Starts clients of a server, which records changes in a directory of the tests, not in the user's. */
export function talksTo(server: AnyServable) {
  const state = mkdtempSync(join(tmpdir(), "refmcp-sql-state-"));
  process.once("exit", () => rmSync(state, { recursive: true, force: true }));
  const optionsOf = (args: readonly string[], options: Omit<ConnectOptions, "args">) => ({
    ...options,
    args: args.includes("--undo-dir") ? args : [...args, "--undo-dir", state],
  });
  return {
    talk: async (args: readonly string[], options: Omit<ConnectOptions, "args"> = {}) =>
      talking(await connectInMemory(server, optionsOf(args, options))),
    /** The same with the built server as a separate process. */
    talkToProcess: async (args: readonly string[], options: Omit<ConnectOptions, "args"> = {}) => {
      const bin = new URL(`../../../servers/${server.name}/dist/bin.js`, import.meta.url);
      return talking(await connectStdio(fileURLToPath(bin), optionsOf(args, options)));
    },
  };
}

function talking(connected: Connected): Talk {
  const call: Talk["call"] = async (name, args = {}, signal) => {
    const { content, isError } = await connected.client.callTool(
      { name, arguments: args },
      signal === undefined ? undefined : { signal },
    );
    const texts = content.map((block) => (block.type === "text" ? block.text : ""));
    return { text: texts.join("\n"), isError: isError === true };
  };
  return {
    connected,
    call,
    async data(name, args) {
      const { text, isError } = await call(name, args);
      if (isError) throw new Error(`${name}: ${text}`);
      return JSON.parse(text);
    },
    async refused(name, args) {
      const { text, isError } = await call(name, args);
      if (!isError) throw new Error(`${name} ${JSON.stringify(args)} was not refused: ${text}`);
      return text;
    },
    close: () => connected.close(),
  };
}

/** What is made before the tests of a file or group, as if it were there already. */
export const later = <Value extends object>(value: () => Value | undefined): Value =>
  new Proxy(Object.create(null), { get: (_, name) => Reflect.get(value() ?? {}, name) });
