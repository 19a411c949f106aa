import { oneLine, ToolError } from "@refmcp/boundary/answer";
import {
  type Cluster,
  type ClusterOptions,
  packaged,
  startCluster,
} from "@refmcp/embedded-postgres";
import manifest from "../../../package.json" with { type: "json" };
import { openConnection } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { closing, failure } from "./errors.ts";
import { socketTo } from "./protocol.ts";
import type { Source } from "./sessions.ts";
import { APPLICATION_NAME } from "./target.ts";

/**
 * A private PostgreSQL: started for the first connection, stopped with the server. If it dies (killed, out of memory), every
 * call that had a connection, or else the next one, reports once what is lost, and the call after that restarts it.
 *
 * @param log receives why it did not start or why it ended, for the person who runs the server.
 */
export function embedded(
  options: Omit<ClusterOptions, "native">,
  log: (sentence: string) => void,
): Source {
  let running: Promise<Cluster> | undefined;
  let isClosed = false;
  /** Dead clusters whose loss has been reported. */
  const reported = new WeakSet<Cluster>();
  const clusters = new WeakMap<Connection, Cluster>();

  /** @throws ToolError `unavailable` if it does not start, or has ended since the last call. */
  async function ready(): Promise<Cluster> {
    const starting = started();
    const cluster = await starting;
    if (cluster.end === undefined) return cluster;
    if (!reported.has(cluster)) throw lost(cluster.end);
    // Another call may already be starting the next one.
    if (running === starting) running = undefined;
    return started();
  }

  function started(): Promise<Cluster> {
    if (isClosed) throw closing();
    running ??= start().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  }

  async function start(): Promise<Cluster> {
    const logged = (what: string, why: string) =>
      log(`the embedded database ${what}: ${why.replaceAll("\n", " | ")}`);
    try {
      const cluster = await startCluster({ native: packaged(manifest), ...options });
      void cluster.ended.then((end) => {
        if (!isClosed) logged("stopped", end);
      });
      return cluster;
    } catch (cause) {
      if (cause instanceof ToolError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      logged("did not start", why);
      throw failure(
        "embedded",
        `The embedded database did not start: ${oneLine(why.slice(0, 300))}`,
        { cause },
      );
    }
  }

  function lost(end: string): ToolError {
    const { directory } = options;
    const [message, hint] =
      directory === undefined
        ? [
            "The embedded database stopped; its temporary data is lost.",
            "The next call starts it again, empty. --embedded-dir DIR keeps data across restarts.",
          ]
        : [
            `The embedded database stopped; everything committed is kept in ${oneLine(directory)}, and uncommitted changes are lost.`,
            "The next call starts it again. Check whether a change was made before repeating it.",
          ];
    return failure("embedded_lost", message, { hint, cause: new Error(end) });
  }

  return {
    ready,
    async open() {
      const cluster = await ready();
      const { host, port, user, database, password } = cluster;
      const connection = await openConnection({
        addresses: [{ host, port, attempts: [false], password: () => ({ password }) }],
        user,
        database,
        connectTimeoutMs: 10_000,
        applicationName: APPLICATION_NAME,
        directTls: false,
        channelBinding: false,
        wanted: "any",
        label: "embedded",
      });
      clusters.set(connection, cluster);
      return connection;
    },
    async whyLost(connection) {
      const cluster =
        connection === undefined ? await running?.catch(() => undefined) : clusters.get(connection);
      if (cluster === undefined || (await isListening(cluster))) return undefined;
      const end = await cluster.ended;
      reported.add(cluster);
      return lost(end);
    },
    async close() {
      isClosed = true;
      const cluster = await running?.catch(() => undefined);
      await cluster?.stop();
    },
  };
}

/** Whether the server still accepts connections; it does while it only ends its sessions. */
function isListening({ host, port }: Cluster): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = socketTo(host, port);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
