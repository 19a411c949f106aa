import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import {
  getDefaultEnvironment,
  StdioClientTransport as Stdio1,
  type StdioServerParameters,
} from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as Transport1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Fields, fieldsAt, listAt } from "../protocol/revisions.ts";
import type { ServerProcess } from "./ready.ts";

/** The official clients: the SDK's first version, and its second in each way to agree on a version. */
export const CLIENTS = ["SDK v1", "SDK v2 legacy", "SDK v2 auto", "SDK v2 modern"] as const;
type ClientName = (typeof CLIENTS)[number];

/** How a client reaches a server: it starts a process, or it connects to a URL. */
export type Way = ServerProcess | URL;

/** The interface of both versions of the SDK for the tests; results are unchanged. */
export interface Peer {
  readonly serverInfo: Fields;
  readonly capabilities: Fields;
  readonly instructions: string | undefined;
  /** The negotiated revision, if the client reports it. */
  readonly revision: string | undefined;
  /** All pages of a list. */
  list(kind: "tools" | "resources" | "prompts"): Promise<Fields[]>;
  call(name: string, args: Fields): Promise<Fields>;
  read(uri: string): Promise<Fields>;
  close(): Promise<void>;
}

const INFO = { name: "refmcp-conformance", version: "1.0.0" };
const MODES = {
  "SDK v2 legacy": "legacy",
  "SDK v2 auto": "auto",
  "SDK v2 modern": { pin: "2026-07-28" },
} as const;

/** Connects an official client to a server. */
export function connect(client: ClientName, way: Way): Promise<Peer> {
  return client === "SDK v1" ? connectFirst(way) : connectSecond(MODES[client], way);
}

async function connectFirst(way: Way): Promise<Peer> {
  const client = new Client1(INFO, { capabilities: {} });
  let revision: string | undefined;
  const transport = way instanceof URL ? new Http1(way) : new Stdio1(spawning(way));
  const setProtocolVersion =
    transport instanceof Http1 ? transport.setProtocolVersion.bind(transport) : undefined;
  const noting = Object.assign(transport, {
    setProtocolVersion(version: string) {
      revision = version;
      setProtocolVersion?.(version);
    },
  });
  // The SDK's classes don't satisfy its own interface under exactOptionalPropertyTypes.
  await client.connect(noting as Transport1);
  return {
    ...factsOf(client),
    revision,
    list: (kind) =>
      allPages(kind, (method, params) => client.request({ method, params }, ResultSchema)),
    call: (name, args) => client.callTool({ name, arguments: args }),
    read: (uri) => client.readResource({ uri }),
    close: async () => {
      if (transport instanceof Http1) await transport.terminateSession();
      await client.close();
    },
  };
}

async function connectSecond(mode: (typeof MODES)[keyof typeof MODES], way: Way): Promise<Peer> {
  const client = new Client2(INFO, { capabilities: {}, versionNegotiation: { mode } });
  const transport = way instanceof URL ? new Http2(way) : new Stdio2(spawning(way));
  await client.connect(transport);
  return {
    ...factsOf(client),
    revision: client.getNegotiatedProtocolVersion(),
    list: async (kind) => {
      // This client follows the pages by itself.
      if (kind === "tools") return listAt(await client.listTools(), kind);
      return listAt(
        await (kind === "resources" ? client.listResources() : client.listPrompts()),
        kind,
      );
    },
    call: (name, args) => client.callTool({ name, arguments: args }),
    read: (uri) => client.readResource({ uri }),
    close: async () => {
      if (transport instanceof Http2) await transport.terminateSession();
      await client.close();
    },
  };
}

function spawning({ file, args, env }: ServerProcess): StdioServerParameters {
  return {
    command: process.execPath,
    args: [file, ...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "ignore",
  };
}

function factsOf(
  client: Pick<Client1 | Client2, "getServerVersion" | "getServerCapabilities" | "getInstructions">,
) {
  return {
    serverInfo: fieldsAt(client.getServerVersion()),
    capabilities: fieldsAt(client.getServerCapabilities()),
    instructions: client.getInstructions(),
  };
}

/** Follows the cursors of a list to its end. */
async function allPages(
  kind: string,
  request: (method: string, params: Fields) => Promise<unknown>,
): Promise<Fields[]> {
  const items: Fields[] = [];
  let params: Fields = {};
  for (;;) {
    const page = await request(`${kind}/list`, params);
    items.push(...listAt(page, kind));
    const cursor = fieldsAt(page).nextCursor;
    if (cursor === undefined) return items;
    params = { cursor };
  }
}
