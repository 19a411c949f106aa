import { connectInMemory } from "@refmcp/testing";
import { expect, it } from "vitest";
import { server } from "../src/server.ts";

it("a client that asks for log messages learns which host was refused", async () => {
  const { client, close } = await connectInMemory(server, { era: "legacy" });
  try {
    const messages: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => {
      messages.push(params);
    });
    const refused = { name: "fetch", arguments: { url: "http://127.0.0.1:9/" } };
    await client.setLoggingLevel("error");
    await client.callTool(refused);
    expect(messages).toEqual([]);
    await client.setLoggingLevel("warning");
    await client.callTool(refused);
    expect(messages).toEqual([
      { level: "warning", data: expect.stringContaining("is a loopback address") },
    ]);
  } finally {
    await close();
  }
});
