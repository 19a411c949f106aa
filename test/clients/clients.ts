import { readFileSync } from "node:fs";
import { PROGRAMS } from "../conformance/programs.ts";

/** How a client reaches a server: it starts a process, or it connects to a URL. */
export type Way = "stdio" | "HTTP";

/** A foreign client, and what is special about it. */
export interface ForeignClient {
  readonly name: string;
  readonly version: string;
  /** The driver's file, and the argument for its `connect`. */
  readonly driver: string;
  readonly argument: string;
  /** The Node.js version that it needs, if it doesn't run on Node.js 20. */
  readonly node?: 22;
  readonly ways: readonly Way[];
  /** How the caller gets a tool's error: as a result, like in the protocol, or as an exception. */
  readonly error: "a result" | "an exception";
  /** Where it abandons a call without notifying the server, which continues with it. */
  readonly silent: readonly Way[];
  /** It stops a server with a signal. The others close the server's input, and the server exits by itself. */
  readonly signals: boolean;
  /**
   * It reads the tools of every server, over stdio. `test/conformance` does that with the SDK's clients, which the bridges are
   * made of, and with the Inspector.
   */
  readonly everyServer: boolean;
}

const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL("package.json", import.meta.url), "utf8"),
);
const DEFAULTS = {
  ways: ["stdio", "HTTP"],
  error: "a result",
  silent: [],
  signals: false,
  everyServer: true,
} as const;

/** The version of a package in package.json. */
export const versionOf = (key: string): string => dependencies[key]?.replace(/.*@/, "") ?? "";

/** A client with the version from package.json; by default the package's name there is the driver's argument. */
function client(
  name: string,
  { package: key, ...rest }: { package: string; driver: string } & Partial<ForeignClient>,
): ForeignClient {
  return { ...DEFAULTS, name, version: versionOf(key), argument: key, ...rest };
}

/** A bridge between the SDK's client and a server. `way` is how the bridge reaches the server. */
function bridge(key: string, argument: string, way: Way): ForeignClient {
  // A bridge that starts the server runs until Ctrl-C, and then stops the server with a signal.
  const signals = way === "stdio";
  return client(argument, {
    package: key,
    driver: "bridges",
    argument,
    ways: [way],
    signals,
    everyServer: false,
  });
}

/** The client of each generation of the SDK. */
export const SDKS: readonly ForeignClient[] = [
  client("SDK v1", { package: "@modelcontextprotocol/sdk", driver: "sdk", everyServer: false }),
  client("SDK v2", {
    package: "@modelcontextprotocol/client",
    driver: "sdk",
    everyServer: false,
  }),
];

/**
 * Each in its newest version (2026-11-22).
 */
export const CLIENTS: readonly ForeignClient[] = [
  ...SDKS,
  {
    ...DEFAULTS,
    name: "Inspector CLI",
    version: PROGRAMS.inspector.version,
    driver: "inspector",
    argument: "",
    node: 22,
    everyServer: false,
    // Only killing it cancels a call, and in an HTTP session a lost connection doesn't cancel anything.
    silent: ["HTTP"],
  },
  client("LangChain", {
    package: "@langchain/mcp-adapters",
    driver: "agents",
    error: "an exception",
  }),
  // It never sends notifications/cancelled over stdio.
  client("AI SDK", {
    package: "@ai-sdk/mcp",
    driver: "agents",
    node: 22,
    silent: ["stdio"],
    signals: true,
  }),
  client("OpenAI Agents", { package: "@openai/agents", driver: "agents" }),
  client("Mastra", { package: "@mastra/mcp", driver: "agents", node: 22, error: "an exception" }),
  bridge("mcp-remote", "mcp-remote", "HTTP"),
  bridge("supergateway", "supergateway from HTTP", "HTTP"),
  bridge("supergateway", "supergateway to SSE", "stdio"),
  bridge("supergateway", "supergateway to HTTP", "stdio"),
  bridge("supergateway", "supergateway to HTTP, 2026-07-28", "stdio"),
  bridge("mcp-proxy", "mcp-proxy to SSE", "stdio"),
  bridge("mcp-proxy", "mcp-proxy to HTTP", "stdio"),
  bridge("mcp-proxy", "mcp-proxy to HTTP, 2026-07-28", "stdio"),
];
