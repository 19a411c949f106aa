import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { INITIALIZE, useProbes } from "../../test/fixtures/http.ts";

const { start, closeLater } = useProbes();
const TRY_AGAIN_LATER = 1013;

/** A masked text frame that is not the last of its message; the mask is zero. */
function fragment(payload: Buffer): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x01, 0xff]);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

/** A connection after the handshake, of which no library knows. */
async function handshake(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on("error", () => undefined);
  closeLater({ close: async () => socket.destroy() });
  socket.write(
    `GET /mcp HTTP/1.1\r\nhost: ${url.host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16).toString("base64")}\r\nsec-websocket-protocol: mcp\r\n\r\n`,
  );
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 101/);
  return socket;
}

async function client(url: URL): Promise<WebSocket> {
  const socket = new WebSocket(url.href.replace(/^http/, "ws"), ["mcp"]);
  closeLater({ close: async () => socket.terminate() });
  await once(socket, "open");
  return socket;
}

/** The answer to a large `initialize`. */
async function answerTo(socket: WebSocket): Promise<unknown> {
  const _meta = { padding: "x".repeat(1_000_000) };
  socket.send(JSON.stringify({ ...INITIALIZE, params: { ...INITIALIZE.params, _meta } }));
  const [data] = await once(socket, "message");
  return JSON.parse(String(data));
}

it("unfinished messages of 60 WebSockets count together, and the rest are refused", async () => {
  const { url } = await start(["--http", "0", "--websocket"]);
  const before = process.memoryUsage().arrayBuffers;
  const frame = fragment(Buffer.alloc(15_900_000, "x"));
  const sockets = await Promise.all(Array.from({ length: 60 }, () => handshake(url)));
  let most = 0;
  const open = new Set(sockets);
  for (const socket of sockets) {
    socket.on("data", () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    });
    socket.once("close", () => open.delete(socket));
    socket.write(frame);
  }
  // As many as fit into 128 MiB may stay.
  await expect.poll(() => open.size).toBeLessThanOrEqual(8);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(250_000_000);
  const left = [...open].map((socket) => once(socket.destroy(), "close"));
  await Promise.all(left);
  // What they held is given back.
  await expect.poll(async () => answerTo(await client(url))).toMatchObject({ id: 1 });
});

it("an unfinished message ends after its time limit, also between pings; an idle connection does not", async () => {
  const { url } = await start(["--http", "0", "--websocket"], { limits: { requestMs: 200 } });
  const idle = await client(url);
  const pinging = setInterval(() => idle.ping("still here"), 20);
  // For longer than the limit of the idle one, if its pings counted.
  for (let round = 0; round < 3; round++) {
    const slow = await client(url);
    const pings = setInterval(() => slow.readyState === slow.OPEN && slow.ping(), 20);
    slow.send('{"jsonrpc":', { fin: false });
    const [code, reason] = await once(slow, "close");
    expect([code, String(reason)]).toEqual([
      TRY_AGAIN_LATER,
      "A message must arrive within 0.2 s.",
    ]);
    clearInterval(pings);
  }
  clearInterval(pinging);
  expect(idle.readyState).toBe(idle.OPEN);
  idle.send(JSON.stringify(INITIALIZE).slice(0, 20), { fin: false });
  idle.ping();
  idle.send(JSON.stringify(INITIALIZE).slice(20), { fin: true });
  const [data] = await once(idle, "message");
  expect(JSON.parse(String(data))).toMatchObject({ id: 1, result: {} });
});
