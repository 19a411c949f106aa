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
  it("count as absent in a subscription", async () => {
    const wire = new Wire();
    const notifications = { toolsListChanged: null, resourceSubscriptions: null };
    wire.send(modern(1, "subscriptions/listen", { notifications }));
    expect(await wire.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    await wire.handle.close();
  });

  it("are kept in a tool's arguments", async () => {
    const wire = await Wire.legacy();
    const { result } = await wire.answer(call(1, "echo", { text: null }));
    expect(result).toMatchObject({ content: [{ type: "text", text: "null" }] });
    await wire.handle.close();
  });
});
