import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { createService } from "../../test/fixtures/engine-service.ts";
import { call, initialize, modern } from "../../test/fixtures/messages.ts";
import { Caller, type Send } from "./caller.ts";
import { Engine } from "./engine.ts";

const echo = { content: [{ type: "text", text: "a" }] };

it("an author's transport may be a pair of arrays", async () => {
  const engine = new Engine(createService());
  const received: Record<string, unknown>[] = [];
  const send: Send = (json) => {
    if (json !== undefined) received.push(JSON.parse(json));
  };
  const caller = new Caller({ send });
  for (const message of [initialize("2025-11-25"), call(1, "echo", { text: "a" })])
    engine.serve(message, caller, send);
  await expect.poll(() => received).toMatchObject([{ id: "init" }, { id: 1, result: echo }]);
  await engine.closeAll();
});

it("an author's transport may be a TCP socket, with one message per line", async () => {
  const engine = new Engine(createService());
  const server = createServer((socket) => {
    const send: Send = (json) => {
      if (json !== undefined) socket.write(`${json}\n`);
    };
    const caller = new Caller({ send });
    createInterface({ input: socket }).on("line", (line) => engine.serve(line, caller, send));
    socket.on("close", () => void engine.close(caller, null));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port }: AddressInfo = Object(server.address());
  const client = connect(port, "127.0.0.1");
  const lines = createInterface({ input: client });
  client.write(
    `${JSON.stringify(modern(1, "tools/call", { name: "echo", arguments: { text: "a" } }))}\n`,
  );
  const [line] = await once(lines, "line");
  expect(JSON.parse(line)).toMatchObject({ id: 1, result: echo });
  client.end();
  await once(client, "close");
  server.close();
});
