import { describe, expect, it } from "vitest";
import { createService } from "../../test/fixtures/engine-service.ts";
import { createLog } from "../log.ts";
import { Amount, Load } from "./load.ts";
import { ClientRequest, type Service, sinkTo } from "./request.ts";
import { revisionOf } from "./revisions.ts";
import { Watches } from "./subscriptions.ts";

const log = createLog("test", "error", () => undefined);
const watching = (watch: Service["watch"]) =>
  new Watches({ watch, log }, new Amount(1_000), () => undefined);
const request = new ClientRequest(
  { jsonrpc: "2.0", id: 1, method: "resources/subscribe" },
  {
    revision: revisionOf("2025-11-25"),
    client: { capabilities: undefined, logLevel: "none", principal: undefined },
    sink: sinkTo(() => undefined),
    service: createService(),
    load: new Load(),
    bytes: 0,
    settled: () => undefined,
  },
);

describe("subscriptions", () => {
  it("watch once for all subscribers, and stop with the last", async () => {
    const events: string[] = [];
    const start = (uri: string) => {
      events.push(`start ${uri}`);
      return () => void events.push(`stop ${uri}`);
    };
    const subscriptions = watching(start);
    await subscriptions.add("a:1", request);
    await subscriptions.add("a:1", request);
    await subscriptions.remove("a:1");
    expect(events).toEqual(["start a:1"]);
    await subscriptions.remove("a:1");
    expect(events).toEqual(["start a:1", "stop a:1"]);
  });

  it("are limited, and one that ends frees a slot", async () => {
    let watched = 0;
    const start = () => {
      watched += 1;
      return () => undefined;
    };
    const subscriptions = watching(start);
    for (let index = 0; index < 1_000; index++) await subscriptions.add(`a:${index}`, request);
    await expect(subscriptions.add("a:1000", request)).rejects.toMatchObject({
      kind: "too_large",
      hint: expect.stringContaining("Unsubscribe"),
    });
    await subscriptions.add("a:999", request);
    expect(watched).toBe(1_000);
    await subscriptions.remove("a:0");
    await subscriptions.add("a:1000", request);
    expect(watched).toBe(1_001);
  });

  it("count together, and release what fails or ends", async () => {
    const slots = new Amount(4);
    const broken = new Set(["a:broken"]);
    const start = (uri: string) =>
      broken.has(uri) ? Promise.reject(new Error("broken")) : () => undefined;
    const connections = [1, 2].map(
      () => new Watches({ watch: start, log }, slots, () => undefined),
    );
    const [first, second] = connections;
    if (first === undefined || second === undefined) throw new Error("two");
    await expect(first.add("a:broken", request)).rejects.toThrow("broken");
    for (const uri of ["a:1", "a:2"]) for (const one of connections) await one.add(uri, request);
    await expect(second.add("a:3", request)).rejects.toMatchObject({ kind: "too_large" });
    await Promise.all(connections.map((one) => one.close()));
    for (const uri of ["a:1", "a:2", "a:3", "a:4"]) await first.add(uri, request);
  });

  it("start again for a second subscriber if the first one failed", async () => {
    const outcomes = [Promise.reject(new Error("cancelled")), Promise.resolve(() => undefined)];
    for (const outcome of outcomes) outcome.catch(() => undefined);
    const subscriptions = watching(() => outcomes.shift());
    const first = subscriptions.add("a:1", request);
    const second = subscriptions.add("a:1", request);
    await expect(first).rejects.toThrow("cancelled");
    await second;
    expect(subscriptions.has("a:1")).toBe(true);
    await subscriptions.remove("a:1");
    expect(subscriptions.has("a:1")).toBe(false);
  });
});
