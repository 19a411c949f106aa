// Helpers of the HTTP benchmark: a server process that listens, and a client with little overhead.
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { createConnection, createServer } from "node:net";
import { listen, processorTime } from "../../../scripts/lib/bench-kit.mjs";

/** A server process that listens. */
export class Listening {
  /** @param {string[]} argv @param {number} port */
  static async start(argv, port) {
    const child = spawn(process.execPath, argv, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, PORT: String(port) },
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-2_000)));
    let ended = false;
    const exit = new Promise((resolve) => child.once("exit", resolve));
    exit.then(() => (ended = true));
    for (;;) {
      if (ended) throw new Error(`${argv.join(" ")} ended:\n${said}`);
      if (await answers(port)) return new Listening(child, port, exit);
      await new Promise((next) => setTimeout(next, 50));
    }
  }

  /** @param {import("node:child_process").ChildProcess} child @param {number} port @param {Promise<unknown>} exit */
  constructor(child, port, exit) {
    this.child = child;
    this.port = port;
    this.exit = exit;
  }

  cpu() {
    return processorTime(this.child.pid);
  }

  async stop() {
    this.child.kill("SIGKILL");
    await this.exit;
  }
}

/** @param {number} port */
function answers(port) {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/**
 * @template Got
 * @param {(port: number) => Promise<Listening>} start
 * @param {(server: Listening) => Promise<Got>} work
 */
export async function withServer(start, work) {
  const probe = createServer();
  const port = await listen(probe);
  await new Promise((closed) => probe.close(closed));
  const server = await start(port);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** A client with minimal overhead: it sends a body and reads the text of the response. */
export class HttpClient {
  #port;
  #agent;

  /** @param {number} port @param {number} sockets */
  constructor(port, sockets) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets });
  }

  /**
   * @param {object} message
   * @param {Record<string, string>} [headers]
   * @returns {Promise<{ status?: number | undefined, headers: import("node:http").IncomingHttpHeaders, text: string }>}
   */
  post(message, headers = {}) {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: this.#port,
          path: "/mcp",
          method: "POST",
          agent: this.#agent,
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...headers,
          },
        },
        (incoming) => {
          let text = "";
          incoming.setEncoding("utf8").on("data", (chunk) => (text += chunk));
          incoming.on("end", () =>
            resolve({ status: incoming.statusCode, headers: incoming.headers, text }),
          );
          incoming.on("error", reject);
        },
      );
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify(message));
    });
  }

  close() {
    this.#agent.destroy();
  }
}
