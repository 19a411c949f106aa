import { once } from "node:events";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  type Connected,
  type ConnectOptions,
  connectClient,
  type ProcessEnd,
  startBuilt,
} from "./connect.ts";

/** A built server that listens on a port of this machine. */
export interface HttpProcess {
  /** The endpoint, `http://127.0.0.1:PORT/mcp`. */
  readonly url: URL;
  readonly pid: number;
  /** What the server wrote to stderr so far. */
  stderr(): string;
  /** Settles when the process has ended, however it ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Sends a signal, `SIGTERM` by default, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<ProcessEnd>;
}

/** What a client over HTTP may be given besides. */
export interface HttpConnectOptions extends Omit<ConnectOptions, "args" | "env"> {
  /** Headers of every request, for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Starts a built server (`dist/bin.js`) with `--http` on a free port, and waits until it listens.
 *
 * @throws where it ends before it listens, with what it wrote to stderr.
 */
export async function startHttp(
  bin: string,
  options: Pick<ConnectOptions, "args" | "env"> = {},
): Promise<HttpProcess> {
  const child = startBuilt(bin, [...(options.args ?? []), "--http", "0"], options);
  let stderr = "";
  const ended = once(child, "close").then(
    (): ProcessEnd => ({ code: child.exitCode, signal: child.signalCode }),
  );
  const url = await new Promise<URL>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8");
      const found = /listens on (\S+)\n/.exec(stderr)?.[1];
      if (found !== undefined) resolve(new URL(found));
    });
    void ended.then(() => reject(new Error(`${bin} exited before it listened:\n${stderr}`)), reject);
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
      // A legacy session would stay open until it has been idle for long.
      if (transport.sessionId !== undefined) await transport.terminateSession().catch(() => undefined);
      await connected.client.close();
    },
  };
}
