import { once } from "node:events";
import { createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "@refmcp/boundary/answer";

/** How long it waits before it tries all processes again, in milliseconds: as Caddy does. */
const RETRY_MS = 250;

/** A plain balancer: each request of any kind goes to the next process. */
export interface Balancer {
  readonly url: URL;
  /** Which process took each request so far, by its index. */
  readonly taken: readonly number[];
  close(): Promise<void>;
}

/**
 * Starts a balancer without knowledge of MCP: no sessions, no cookies, no retry after a byte was sent. It skips processes that
 * refuse the connection, and while none can take a request, it tries again.
 *
 * @param healthPath where to ask a process, before each request, whether it may get one.
 */
export async function startBalancer(
  targets: readonly URL[],
  { healthPath }: { readonly healthPath?: string } = {},
): Promise<Balancer> {
  const processIndexes: number[] = [];
  let next = 0;
  const server = createServer((incoming, response) => {
    const first = next;
    next += 1;
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => void pass(0));

    async function pass(tried: number): Promise<void> {
      const index = (first + tried) % targets.length;
      const target = targets[index];
      if (response.destroyed) return;
      if (target === undefined || tried === targets.length) {
        await sleep(RETRY_MS);
        return pass(0);
      }
      if (healthPath !== undefined && !(await isHealthy(new URL(healthPath, target))))
        return pass(tried + 1);
      const { method = "GET", headers } = incoming;
      const { host: _, "transfer-encoding": __, ...otherHeaders } = headers;
      const length = Buffer.concat(chunks).length;
      const outgoing = request(target, {
        method,
        headers: { ...otherHeaders, "content-length": length },
        agent: false,
      });
      outgoing.on("response", (answer) => {
        processIndexes.push(index);
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on("error", () => response.destroy());
      });
      outgoing.on("error", (error) =>
        errorCode(error) === "ECONNREFUSED" ? void pass(tried + 1) : response.destroy(),
      );
      response.on("close", () => outgoing.destroy());
      outgoing.end(Buffer.concat(chunks));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    taken: processIndexes,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function isHealthy(url: URL): Promise<boolean> {
  return fetch(url, { headers: { connection: "close" } }).then(
    async (response) => {
      await response.text();
      return response.ok;
    },
    () => false,
  );
}
