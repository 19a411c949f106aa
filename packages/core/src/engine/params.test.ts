import { describe, expect, it } from "vitest";
import { call, initialize, modern, request } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";

it("ignores capabilities that are not objects, since old versions of Cursor send booleans", async () => {
  const wire = new Wire();
  const { params } = initialize();
  wire.send(
    request(1, "initialize", { ...Object(params), capabilities: { roots: true, sampling: 5 } }),
  );
  expect(await wire.next()).toHaveProperty("result");
  await wire.handle.close();
});

describe("optional parameters that are null", () => {
  it("count as absent in initialize", async () => {
    const wire = new Wire();
    const clientInfo = { name: "c", version: "1", title: null, icons: null, websiteUrl: null };
    const capabilities = { roots: { listChanged: null }, sampling: null, elicitation: null };
    wire.send(
      request(1, "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo }),
    );
    expect((await wire.next()).result).toMatchObject({ protocolVersion: "2025-11-25" });
    await wire.handle.close();
  });

  it("count as absent in a subscription", async () => {
    const wire = new Wire();
    const notifications = { toolsListChanged: null, resourceSubscriptions: null };
    wire.send(modern(1, "subscriptions/listen", { notifications }));
    expect(await wire.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    await wire.handle.close();
  });

  it("count as absent in _meta", async () => {
    const wire = await Wire.legacy();
    expect(await wire.answer(request(1, "tools/list", { _meta: null }))).toHaveProperty("result");
    expect(
      await wire.answer(request(2, "tools/list", { _meta: { progressToken: null } })),
    ).toHaveProperty("result");
    await wire.handle.close();
  });

  it("are kept in a tool's arguments", async () => {
    const wire = await Wire.legacy();
    const { result } = await wire.answer(call(1, "echo", { text: null }));
    expect(result).toMatchObject({ content: [{ type: "text", text: "null" }] });
    await wire.handle.close();
  });
});

describe("wrong parameters", () => {
  it.each([
    [{ protocolVersion: 5 }, "params.protocolVersion must be a string, not 5"],
    [{ capabilities: [] }, "params.capabilities must be an object"],
    [{ clientInfo: undefined }, "params.clientInfo is missing"],
    [{ clientInfo: { version: "1" } }, 'params.clientInfo must be an object with "name"'],
    [{ clientInfo: { name: "c", version: 1 } }, "params.clientInfo must be"],
  ])("initialize with %j", async (wrong, sentence) => {
    const wire = new Wire();
    const right = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    wire.send(request(1, "initialize", { ...right, ...wrong }));
    const { error } = await wire.next();
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(sentence) });
    wire.send(initialize());
    expect((await wire.next()).result).toMatchObject({ protocolVersion: "2025-11-25" });
    await wire.handle.close();
  });
});
