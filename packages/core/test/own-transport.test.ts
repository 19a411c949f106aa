import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import * as z from "zod";
import {
  type AnyServer,
  bind,
  Caller,
  defineServer,
  Engine,
  type Send,
  toolFor,
} from "../src/index.ts";
import { call, initialize, modern } from "./fixtures/messages.ts";
import { SERVER, TOOL } from "./fixtures/server.ts";

const echo = toolFor<null>()({
  ...TOOL,
  name: "echo",
  input: z.strictObject({ text: z.string() }),
  run: ({ text }) => text,
});
const server = defineServer({ ...SERVER, name: "own", tools: [echo], open: () => null });
const answer = { content: [{ type: "text", text: "a" }] };

it("an author's transport may be a pair of arrays", async () => {
  const { service, close } = await bind(server);
  const engine = new Engine(service);
  const sent = [initialize("2025-11-25"), call(1, "echo", { text: "a" })];
  const received: unknown[] = [];
  const send: Send = (json) => {
    if (json !== undefined) received.push(JSON.parse(json));
  };
  const caller = new Caller({ send });
  for (const message of sent) engine.serve(message, caller, send);
  await expect.poll(() => received).toMatchObject([{ id: "init" }, { id: 1, result: answer }]);
  await engine.closeAll();
  await close();
});

/** As in README.md. */
async function serveTcp(server: AnyServer, port: number): Promise<Server> {
  const { service } = await bind(server);
  const engine = new Engine(service);
  return createServer((socket) => {
    const send: Send = (json) => {
      if (json !== undefined) socket.write(`${json}\n`);
    };
    const caller = new Caller({ send });
    createInterface({ input: socket }).on("line", (line) => engine.serve(line, caller, send));
    socket.on("close", () => void engine.close(caller, null));
  }).listen(port, "127.0.0.1");
}

it("an author's transport may be a TCP socket, with one message per line", async () => {
  const listening = await serveTcp(server, 0);
  await once(listening, "listening");
  const { port }: AddressInfo = Object(listening.address());
  const client = connect(port, "127.0.0.1");
  const lines = createInterface({ input: client });
  const request = modern(1, "tools/call", { name: "echo", arguments: { text: "a" } });
  client.write(`${JSON.stringify(request)}\n`);
  const [line] = await once(lines, "line");
  expect(JSON.parse(line)).toMatchObject({ id: 1, result: answer });
  client.end();
  await once(client, "close");
  listening.close();
});
