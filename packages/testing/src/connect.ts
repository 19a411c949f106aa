import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, dirname } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  Client,
  type ClientCapabilities,
  type CreateMessageRequest,
  type CreateMessageResult,
  type ElicitRequest,
  type ElicitResult,
  InMemoryTransport,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ClientRoot } from "@refmcp/boundary";
import { bind, Caller, Engine, type Send, type Service } from "@refmcp/core";
import { type AnyServable, variablePrefix } from "@refmcp/core/run";

export type Era = "legacy" | "modern";

/** The revision that clients of each era use in tests. */
export const REVISIONS = { legacy: "2025-11-25", modern: "2026-07-28" } as const;

export interface ConnectOptions {
  /** Default: modern. */
  readonly era?: Era;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How Node.js is started for a server over stdio; default: `[process.execPath]`. */
  readonly node?: readonly string[];
  /** Extensions that the client declares, with their settings. */
  readonly extensions?: ClientCapabilities["extensions"];
  /** The client's roots; without them, the client does not declare the capability. */
  readonly roots?: readonly ClientRoot[];
  /** Answers the server's questions; without it, the client cannot be asked. */
  readonly elicit?: (params: ElicitRequest["params"]) => ElicitResult | Promise<ElicitResult>;
  /** Stands in for the client's model; without it, the client offers none. */
  readonly sample?: (
    params: CreateMessageRequest["params"],
  ) => CreateMessageResult | Promise<CreateMessageResult>;
}

/** A client connected to a server, with all messages that it received. */
export interface Connected {
  readonly client: Client;
  /** Every message that the server sent, in order. */
  readonly received: readonly JSONRPCMessage[];
  /** The server's stderr so far (in memory: its log). */
  stderr(): string;
  /** The server's process id, over stdio. */
  readonly pid: number | undefined;
  /** Closes the connection and waits until the server has exited. */
  close(): Promise<void>;
}

/** Connects a client to a server in this process, through a pair of in-memory transports. */
export async function connectInMemory(
  server: AnyServable,
  options: ConnectOptions = {},
): Promise<Connected> {
  let log = "";
  const env = { ...patience(server.name), ...options.env };
  const { service, close } = await bind(server, {
    argv: options.args ?? [],
    env,
    writeLog: (line) => {
      log += line;
    },
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const connection = serveInMemory(service, serverSide);
  const connected = await connectClient(clientSide, options);
  return {
    ...connected,
    stderr: () => log,
    pid: undefined,
    async close() {
      await connected.client.close();
      await connection.close();
      await close();
    },
  };
}

/** Serves a server over an SDK transport, for example one side of an in-memory pair. */
export function serveInMemory(service: Service, transport: Transport): { close(): Promise<void> } {
  const send: Send = (json, _kind, problem) => {
    if (json !== undefined) void transport.send(JSON.parse(json)).catch(() => undefined);
    else if (problem !== undefined) service.log.warning(`Dropped ${problem.error.message}.`);
  };
  const engine = new Engine(service);
  const caller = new Caller({ send });
  transport.onmessage = (message) =>
    engine.serve(JSON.parse(JSON.stringify(message)), caller, send);
  transport.onclose = () => void engine.close(caller);
  void transport.start();
  return {
    async close() {
      await engine.close(caller);
      await engine.closeAll();
    },
  };
}

/**
 * The command of a Node.js to which permission bits apply. They do not apply to root, so as root it runs without the
 * capabilities that override them (Linux, capabilities(7)).
 */
export function nodeBoundByPermissions(): readonly string[] {
  return process.getuid?.() === 0
    ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", process.execPath]
    : [process.execPath];
}

/** Starts a built server (`dist/bin.js`) as a child process and connects a client to it over stdio. */
export async function connectStdio(bin: string, options: ConnectOptions = {}): Promise<Connected> {
  const [command = process.execPath, ...before] = options.node ?? [process.execPath];
  const transport = new StdioClientTransport({
    command,
    args: [...before, bin, ...(options.args ?? [])],
    env: environmentOf(bin, options.env),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const connected = await connectClient(transport, options);
  return {
    ...connected,
    stderr: () => stderr,
    pid: transport.pid ?? undefined,
    close: () => connected.client.close(),
  };
}

/** A busy machine is slow: only a call that hangs should end by the client's limit, which is one minute by default. */
class PatientClient extends Client {
  override callTool(
    ...[params, options]: Parameters<Client["callTool"]>
  ): ReturnType<Client["callTool"]> {
    const result = super.callTool(params, { timeout: 300_000, ...options });
    // A test that has failed no longer waits for it.
    result.catch(() => undefined);
    return result;
  }
}

async function connectClient(
  transport: Transport,
  options: ConnectOptions,
): Promise<{ client: Client; received: JSONRPCMessage[] }> {
  const capabilities: ClientCapabilities = {
    ...(options.roots === undefined ? {} : { roots: { listChanged: true } }),
    ...(options.elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(options.sample === undefined ? {} : { sampling: {} }),
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
  };
  const era = options.era ?? "modern";
  const client = new PatientClient(
    { name: "refmcp-testing", version: "1.0.0" },
    {
      capabilities,
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: REVISIONS.modern } },
    },
  );
  const { roots, elicit, sample } = options;
  if (roots !== undefined)
    client.setRequestHandler("roots/list", () => ({ roots: roots.map((root) => ({ ...root })) }));
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => elicit(params));
  if (sample !== undefined)
    client.setRequestHandler("sampling/createMessage", ({ params }) => sample(params));
  const received: JSONRPCMessage[] = [];
  await client.connect(recording(transport, received));
  return { client, received };
}

/** Records every message before the client sees it. */
function recording(transport: Transport, received: JSONRPCMessage[]): Transport {
  let handler: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler,
    set(next: Transport["onmessage"]) {
      handler =
        next === undefined
          ? undefined
          : (message, extra) => {
              received.push(message);
              next(message, extra);
            };
    },
  });
  return transport;
}

/** The same for the server's limit. A test of that limit passes `--timeout-ms`, which has precedence. */
const patience = (server: string) => ({ [`${variablePrefix(server)}TIMEOUT_MS`]: "500000" });

/** The part of this process's environment that a built server needs, and what a test adds. */
function environmentOf(bin: string, env: ConnectOptions["env"]): Record<string, string> {
  const { TMPDIR } = process.env;
  const server = basename(dirname(dirname(bin)));
  return {
    ...getDefaultEnvironment(),
    ...(TMPDIR !== undefined && { TMPDIR }),
    ...patience(server),
    ...env,
  };
}

function startBuilt(
  bin: string,
  args: readonly string[],
  { env }: Pick<ConnectOptions, "env">,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [bin, ...args], { env: environmentOf(bin, env) });
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The output of a raw session over pipes, for tests of the bytes on the wire. */
export interface RawSession extends ProcessEnd {
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** Starts a built server, writes `input` to its stdin, closes it and returns the output. */
export async function rawSession(
  bin: string,
  input: string | Uint8Array,
  options: Pick<ConnectOptions, "args" | "env"> = {},
): Promise<RawSession> {
  const child = startBuilt(bin, options.args ?? [], options);
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { lines, stderr, code: child.exitCode, signal: child.signalCode };
}

/** A server process that listens. */
export interface HttpProcess {
  /** The endpoint, `http://127.0.0.1:PORT/mcp`, or `unix:PATH`. */
  readonly url: URL;
  readonly pid: number;
  /** The server's stderr so far. */
  stderr(): string;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<ProcessEnd>;
  /** Sends a signal, `SIGTERM` by default, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<ProcessEnd>;
}

/** Additional options of a client over HTTP. */
export interface HttpConnectOptions extends Omit<ConnectOptions, "args" | "env"> {
  /** Headers of every request, for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Starts a built server (`dist/bin.js`) with `--http` on a free port, and waits until it listens.
 *
 * @throws an error with its stderr if it exits before it listens.
 */
export async function startHttp(
  bin: string,
  options: Pick<ConnectOptions, "args" | "env"> = {},
): Promise<HttpProcess> {
  const { args = [] } = options;
  // No load balancer has to notice, so a test's SIGTERM ends the process without a delay.
  const drain = args.includes("--drain-ms") ? [] : ["--drain-ms", "0"];
  return untilListening(startBuilt(bin, [...args, ...drain, "--http", "0"], options));
}

/**
 * Waits until a server process, however it was started, listens.
 *
 * @param child with a pipe for its stderr
 * @throws an error with its stderr if it exits before it listens.
 */
export async function untilListening(
  child: ChildProcess & { readonly stderr: Readable },
): Promise<HttpProcess> {
  let stderr = "";
  const ended = once(child, "close").then(
    (): ProcessEnd => ({ code: child.exitCode, signal: child.signalCode }),
  );
  const url = await new Promise<URL>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      const address = /listens on (\S+)\n/.exec(stderr)?.[1];
      if (address !== undefined) resolve(new URL(address));
    });
    void ended.then(
      () => reject(new Error(`${child.spawnargs.join(" ")} exited before it listened:\n${stderr}`)),
      reject,
    );
  });
  return {
    url,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    ended,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

/** Connects a client to a server that listens; `close` ends the connection and leaves the server running. */
export async function connectHttp(
  url: URL,
  options: HttpConnectOptions = {},
): Promise<Pick<Connected, "client" | "received" | "close">> {
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { ...options.headers } },
  });
  const connected = await connectClient(transport, options);
  return {
    ...connected,
    async close() {
      // A legacy session would stay open for a long time.
      if (transport.sessionId !== undefined)
        await transport.terminateSession().catch(() => undefined);
      await connected.client.close();
    },
  };
}
