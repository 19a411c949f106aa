import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { keyedLock } from "./keyed-lock.ts";

describe("keyedLock", () => {
  it("runs work with the same key in sequence, even after a failure, and other keys in parallel", async () => {
    const lock = keyedLock();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await setImmediate();
      events.push(`${name} ends`);
      if (name === "failing") throw new Error("failed");
      return name;
    };
    const results = await Promise.allSettled([
      lock("a", work("failing")),
      lock("a", work("second")),
      lock("b", work("other")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(events.indexOf("failing ends")).toBeLessThan(events.indexOf("second begins"));
    expect(events.indexOf("other begins")).toBeLessThan(events.indexOf("failing ends"));
    expect(await lock("a", work("later"))).toBe("later");
  });
});
