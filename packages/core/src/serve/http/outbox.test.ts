import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createConnection, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Outbox, type SlowReaderLimits } from "./bridge.ts";

const MIB = 1_048_576;
const LONG = 20_000;
const GENEROUS: SlowReaderLimits = { queued: 1_000 * MIB, queuedTotal: 1_000 * MIB, stalledMs: 60_000 };
/** What the kernel may take for two sockets of this machine before anything waits in the process. */
const KERNEL = 32 * MIB;
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Source {
  produced: number;
  cancelled: boolean;
}

/** An endless stream, or one of `chunks` times 64 KiB; it gives one piece per turn of the loop, as events come. */
function source(state: Source, chunks = Number.POSITIVE_INFINITY, then = "ends"): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (state.produced >= chunks * 65_536) return new Promise(() => undefined);
      await new Promise((next) => setImmediate(next));
      controller.enqueue(new Uint8Array(65_536));
      state.produced += 65_536;
      if (then === "ends" && state.produced >= chunks * 65_536) controller.close();
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return new Response(body);
}

async function serve(outbox: Outbox, answer: () => Response): Promise<number> {
  const server: Server = createServer((_request, response) => void outbox.send(answer(), response));
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

/** A client that asks and reads nothing. */
function stubborn(port: number): Socket {
  const socket = createConnection(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  socket.pause();
  socket.on("error", () => undefined);
  open.push({ close: async () => void socket.destroy() });
  return socket;
}

describe("clients that do not read", () => {
  it("are cut off when too much waits for one of them, and their stream is cancelled", async () => {
    const outbox = new Outbox({ ...GENEROUS, queued: 2 * MIB });
    const state: Source = { produced: 0, cancelled: false };
    stubborn(await serve(outbox, () => source(state)));
    await vi.waitFor(() => expect(state.cancelled).toBe(true), LONG);
    expect(state.produced).toBeGreaterThan(2 * MIB);
    expect(state.produced).toBeLessThan(2 * MIB + KERNEL);
    expect(outbox.waiting).toBe(0);
  });

  it("are cut off when too much waits for all of them, and a reader gets everything meanwhile", async () => {
    const outbox = new Outbox({ ...GENEROUS, queuedTotal: 8 * MIB });
    const states: Source[] = [];
    let most = 0;
    let isReader = false;
    const port = await serve(outbox, () => {
      const state = { produced: 0, cancelled: false };
      if (isReader) return source({ ...state }, 320);
      states.push(state);
      return source(state);
    });
    for (let client = 0; client < 8; client += 1) stubborn(port);
    const looking = setInterval(() => {
      most = Math.max(most, outbox.waiting);
    }, 1);
    await vi.waitFor(() => expect(states.length).toBe(8), LONG);
    isReader = true;
    const read = await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
    await vi.waitFor(() => expect(states.every(({ cancelled }) => cancelled)).toBe(true), LONG);
    clearInterval(looking);
    expect(read.byteLength).toBe(320 * 65_536);
    expect(most).toBeLessThanOrEqual(9 * MIB);
  });

  it("are cut off when what waits makes no progress", async () => {
    const outbox = new Outbox({ ...GENEROUS, stalledMs: 100 });
    const state: Source = { produced: 0, cancelled: false };
    stubborn(await serve(outbox, () => source(state, 1_000, "goes quiet")));
    await vi.waitFor(() => expect(state.cancelled).toBe(true), LONG);
    expect(outbox.waiting).toBe(0);
  });
});
