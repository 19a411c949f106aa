import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createConnection } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { Reply } from "./reply.ts";

const MIB = 1_048_576;
/** How many bytes the kernel may buffer for two local sockets before anything waits in the process. */
const KERNEL = 32 * MIB;

/** Streams up to `maxBytes` to a client that sends a request and reads nothing. */
async function streamTo(limits: { queued: number; stalledMs: number }, maxBytes: number) {
  const state = { produced: 0, isCut: false };
  const piece = "x".repeat(65_536);
  const server = createServer((_request, response) => {
    const reply = new Reply(response, limits);
    reply.openStream();
    reply.whenClosed(() => {
      state.isCut = true;
    });
    const more = () => {
      if (state.isCut || state.produced >= maxBytes) return;
      reply.write(piece);
      state.produced += piece.length;
      setImmediate(more);
    };
    more();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = createConnection(port, "127.0.0.1").on("error", () => undefined);
  socket.pause().write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return state;
}

describe("clients that do not read", () => {
  it("are cut off when too much is pending for one of them, and nothing more is produced for it", async () => {
    const limits = { queued: 2 * MIB, stalledMs: 60_000 };
    const state = await streamTo(limits, Number.POSITIVE_INFINITY);
    await expect.poll(() => state.isCut).toBe(true);
    expect(state.produced).toBeGreaterThan(2 * MIB);
    expect(state.produced).toBeLessThan(2 * MIB + KERNEL);
  });

  it("are cut off when pending data makes no progress", async () => {
    const state = await streamTo({ queued: 1_000 * MIB, stalledMs: 100 }, 64 * MIB);
    await expect.poll(() => state.isCut).toBe(true);
  });
});
