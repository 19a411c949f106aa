import { describe, expect, it } from "vitest";
import { claim, initialize, modern, notification, request } from "../../test/fixtures/messages.ts";
import { Wire } from "../../test/fixtures/wire.ts";

const discover = (id: unknown) => modern(id, "server/discover");
const unsupported = (requested: string) => ({
  code: -32022,
  data: { supported: ["2026-07-28"], requested },
});

describe("the version that a request claims", () => {
  it("must not be omitted on a modern connection", async () => {
    const wire = new Wire();
    wire.send(modern(1, "tools/list"));
    await wire.next();
    for (const message of [
      request(2, "tools/list"),
      request(2, "tools/list", {}),
      request(2, "server/discover"),
    ]) {
      expect((await wire.answer(message, discover)).error).toMatchObject({ code: -32602 });
    }
    expect((await wire.answer(initialize(), discover)).error).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"] },
    });
    await wire.handle.close();
  });

  it("must not be omitted after server/discover, except to fall back to initialize", async () => {
    const wire = new Wire();
    wire.send(discover(1));
    expect((await wire.next()).result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect((await wire.answer(request(2, "tools/list"), discover)).error).toMatchObject({
      code: -32602,
    });
    wire.send(initialize("2025-06-18"));
    expect((await wire.next()).result).toMatchObject({ protocolVersion: "2025-06-18" });
    const { result } = await wire.answer(request(3, "tools/list"));
    expect(result).toBeDefined();
    expect(result).not.toHaveProperty("resultType");
    await wire.handle.close();
  });
});

describe("a legacy connection", () => {
  it("accepts a client that repeats the negotiated version in _meta", async () => {
    const wire = await Wire.legacy("2025-06-18");
    expect(await wire.answer(modern(1, "tools/list", {}, "2025-06-18"))).toHaveProperty("result");
    await wire.handle.close();
  });

  it("can be opened without initialize, as the SDK does, and then is legacy", async () => {
    const wire = new Wire();
    expect(await wire.answer(request(1, "tools/list"))).toHaveProperty("result");
    expect((await wire.answer(modern(2, "tools/list"))).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("opened for an earlier protocol version"),
    });
    await wire.handle.close();
  });
});

describe("initialize with a claim", () => {
  it("of an unknown version is refused", async () => {
    const wire = new Wire();
    wire.send(request(1, "initialize", { _meta: claim("2027-01-01") }));
    expect((await wire.next()).error).toMatchObject(unsupported("2027-01-01"));
    await wire.handle.close();
  });
});

describe("notifications", () => {
  it("without a version do not make a probing client a legacy one", async () => {
    const wire = new Wire();
    // The specification's own example of a modern cancellation has no _meta.
    wire.send(
      discover(1),
      notification("notifications/cancelled", { requestId: 1 }),
      modern(2, "tools/list"),
    );
    let reply = await wire.next();
    // The probe may already have been answered when it was cancelled.
    if (reply.id === 1) reply = await wire.next();
    expect(reply).toMatchObject({ id: 2, result: { resultType: "complete" } });
    await wire.handle.close();
  });
});
