import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { ForwardProxy } from "./forward-proxy.ts";

it("keeps the last failures, which explain what a page did last", async () => {
  const proxy = await ForwardProxy.listen({
    connect: () => Promise.reject(new Error("refused")),
    isRefusal: () => true,
    check: async () => undefined,
  });
  for (let port = 1; port <= 201; port++) {
    const socket = connect(proxy.port, "127.0.0.1");
    const host = port === 200 ? "[::1]" : "a.example";
    socket.end(`CONNECT ${host}:${port} HTTP/1.1\r\nhost: ${host}\r\n\r\n`).resume();
    await once(socket, "close");
  }
  expect(proxy.failureAt("[::1]:200")).toBeDefined();
  expect(proxy.failureAt("a.example:1")).toBeUndefined();
  expect(proxy.failureAt("a.example:201")).toMatchObject({ isRefused: true, reason: "refused" });
  await proxy.close();
});
