import { connect } from "node:net";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Cluster, type ClusterOptions, packaged, startCluster } from "@refmcp/embedded-postgres";
import manifest from "../../../package.json" with { type: "json" };
import type { Source } from "./database.ts";
import { type Link, openLink } from "./link.ts";
import type { Target } from "./target.ts";

const LABEL = "embedded";

/** Default of `native`: the binaries of the installed package. */
type EmbeddedOptions = Omit<ClusterOptions, "native"> & Partial<Pick<ClusterOptions, "native">>;

/**
 * A private PostgreSQL: started for the first connection, stopped with the server. If it dies (killed, out of memory), every
 * call that had a connection, or else the next one, reports once what is lost, and the call after that restarts it.
 */
export class Embedded implements Source {
  readonly #options: EmbeddedOptions;
  readonly #log: (sentence: string) => void;
  #cluster: Promise<Cluster> | undefined;
  #isClosed = false;
  /** Dead clusters whose loss has been reported. */
  readonly #reported = new WeakSet<Cluster>();
  readonly #clusters = new WeakMap<Link, Cluster>();

  /** @param log receives why it did not start or why it ended, for the person who runs the server. */
  constructor(options: EmbeddedOptions, log: (sentence: string) => void) {
    this.#options = options;
    this.#log = log;
  }

  /**
   * Starts it unless it is running.
   *
   * @throws ToolError `unavailable` if it does not start, or has ended since the last call.
   */
  async ready(): Promise<Cluster> {
    const starting = this.#started();
    const cluster = await starting;
    if (cluster.end === undefined) return cluster;
    if (!this.#reported.has(cluster)) throw this.#loss(cluster.end);
    // Another call may already be starting the next one.
    if (this.#cluster === starting) this.#cluster = undefined;
    return this.#started();
  }

  /** @throws ToolError `unavailable` as `ready` does, or if nothing can connect. */
  async open(): Promise<Link> {
    const cluster = await this.ready();
    const link = await openLink(targetOf(cluster));
    this.#clusters.set(link, cluster);
    return link;
  }

  /**
   * The error for a call whose connection was lost or could not be opened because the database died; undefined if it is
   * still running.
   */
  async whyLost(link: Link | undefined): Promise<ToolError | undefined> {
    const cluster =
      link === undefined ? await this.#cluster?.catch(() => undefined) : this.#clusters.get(link);
    if (cluster === undefined || (await isListening(cluster))) return undefined;
    const end = await cluster.ended;
    this.#reported.add(cluster);
    return this.#loss(end);
  }

  #loss(end: string): ToolError {
    const { directory } = this.#options;
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
    return new ToolError("unavailable", message, { hint, code: "embedded_lost", cause: new Error(end) });
  }

  #started(): Promise<Cluster> {
    if (this.#isClosed) throw new ToolError("unavailable", "The server is closing.");
    this.#cluster ??= this.#start().catch((error: unknown) => {
      this.#cluster = undefined;
      throw error;
    });
    return this.#cluster;
  }

  async #start(): Promise<Cluster> {
    try {
      const cluster = await startCluster({ native: packaged(manifest), ...this.#options });
      void cluster.ended.then((end) => {
        if (!this.#isClosed) this.#log(`the embedded database stopped: ${end.replaceAll("\n", " | ")}`);
      });
      return cluster;
    } catch (error) {
      if (error instanceof ToolError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      this.#log(`the embedded database did not start: ${why.replaceAll("\n", " | ")}`);
      throw new ToolError(
        "unavailable",
        `The embedded database did not start: ${oneLine(why.slice(0, 300))}`,
        {
          hint: "See the server's log (stderr). The next call tries again.",
          code: "embedded",
          cause: error,
        },
      );
    }
  }

  /** Shuts it down cleanly. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const cluster = await this.#cluster?.catch(() => undefined);
    await cluster?.stop();
  }
}

function targetOf({ host, port, user, database, password }: Cluster): Target {
  return {
    addresses: [{ host, port, attempts: [false], password: () => ({ password }) }],
    user,
    database,
    connectTimeoutMs: 10_000,
    applicationName: "refmcp-server-postgres",
    options: undefined,
    directTls: false,
    channelBinding: false,
    wanted: "any",
    label: LABEL,
  };
}

/** Whether the server still accepts connections; it does while it only ends its sessions. */
function isListening({ host, port }: Cluster): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
