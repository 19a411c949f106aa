import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createConnection, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Reply } from "./reply.ts";

const MIB = 1_048_576;
const GENEROUS = {
  queued: 1_000 * MIB,
  stalledMs: 60_000,
};
/** How many bytes the kernel may buffer for two local sockets before anything waits in the process. */
const KERNEL = 32 * MIB;
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Source {
  produced: number;
  cut: boolean;
}

/** An endless stream, or one of `chunks` times 64 KiB, with one chunk per turn of the event loop. */
function produce(
  reply: Reply,
  state: Source,
  chunks = Number.POSITIVE_INFINITY,
  then = "ends",
): void {
  reply.openStream();
  reply.whenClosed(() => {
    state.cut = true;
  });
  const piece = "x".repeat(65_536);
  const more = () => {
    if (state.cut || state.produced >= chunks * piece.length) return;
    reply.write(piece);
    state.produced += piece.length;
    if (then === "ends" && state.produced >= chunks * piece.length) reply.end();
    else setImmediate(more);
  };
  more();
}

async function serve(limits: typeof GENEROUS, start: (reply: Reply) => void): Promise<number> {
  const server: Server = createServer((_request, response) => start(new Reply(response, limits)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A client that sends a request and reads nothing. */
function stubborn(port: number): Socket {
  const socket = createConnection(port, "127.0.0.1", () =>
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
  );
  socket.pause();
  socket.on("error", () => undefined);
  open.push({ close: async () => void socket.destroy() });
  return socket;
}

describe("clients that do not read", () => {
  it("are cut off when too much is pending for one of them, and nothing more is produced for it", async () => {
    const limits = { ...GENEROUS, queued: 2 * MIB };
    const state: Source = { produced: 0, cut: false };
    stubborn(await serve(limits, (reply) => produce(reply, state)));
    await expect.poll(() => state.cut).toBe(true);
    expect(state.produced).toBeGreaterThan(2 * MIB);
    expect(state.produced).toBeLessThan(2 * MIB + KERNEL);
  });

  it("are cut off when pending data makes no progress", async () => {
    const limits = { ...GENEROUS, stalledMs: 100 };
    const state: Source = { produced: 0, cut: false };
    stubborn(await serve(limits, (reply) => produce(reply, state, 1_000, "goes quiet")));
    await expect.poll(() => state.cut).toBe(true);
  });
});
