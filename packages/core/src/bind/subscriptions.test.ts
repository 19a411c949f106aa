import { describe, expect, it } from "vitest";
import { createLog } from "../log.ts";
import { Subscriptions } from "./subscriptions.ts";

const log = createLog("test", "error", () => undefined);

describe("subscriptions", () => {
  it("watch once for all subscribers, and stop with the last", async () => {
    const events: string[] = [];
    const start = (uri: string) => {
      events.push(`start ${uri}`);
      return () => void events.push(`stop ${uri}`);
    };
    const subscriptions = new Subscriptions(start, () => undefined, log);
    await subscriptions.add("a:1");
    await subscriptions.add("a:1");
    await subscriptions.remove("a:1");
    expect(events).toEqual(["start a:1"]);
    await subscriptions.remove("a:1");
    expect(events).toEqual(["start a:1", "stop a:1"]);
  });

  it("are bounded, and there is room again when one ends", async () => {
    let watched = 0;
    const start = () => {
      watched += 1;
      return () => undefined;
    };
    const subscriptions = new Subscriptions(start, () => undefined, log);
    for (let index = 0; index < 1_000; index++) await subscriptions.add(`a:${index}`);
    await expect(subscriptions.add("a:1000")).rejects.toMatchObject({
      kind: "too_large",
      hint: expect.stringContaining("Unsubscribe"),
    });
    await subscriptions.add("a:999");
    expect(watched).toBe(1_000);
    await subscriptions.remove("a:0");
    await subscriptions.add("a:1000");
    expect(watched).toBe(1_001);
  });
});
