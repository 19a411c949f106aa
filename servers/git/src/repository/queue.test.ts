import { describe, expect, it } from "vitest";
import { keyedQueue } from "./queue.ts";

describe("keyedQueue", () => {
  it("runs work of one key in order, after a failure too, and other keys at once", async () => {
    const queue = keyedQueue();
    const order: string[] = [];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = queue("a", async () => {
      await gate;
      order.push("first");
      throw new Error("failed");
    });
    const second = queue("a", async () => void order.push("second"));
    await queue("b", async () => void order.push("other"));
    release();
    await expect(first).rejects.toThrow("failed");
    await second;
    expect(order).toEqual(["other", "first", "second"]);
  });
});
