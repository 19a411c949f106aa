import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Locks } from "./locks.ts";

describe("Locks", () => {
  it("locks several paths in any order without a deadlock", async () => {
    const locks = new Locks();
    const names = ["/a", "/b", "/c", "/d"];
    let finished = 0;
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const start = index % 4;
        const some = [...names.slice(start), ...names.slice(0, start)].slice(0, 1 + (index % 3));
        return locks.hold(index % 2 === 0 ? some : some.toReversed(), async () => {
          await delay(0);
          finished += 1;
        });
      }),
    );
    expect(finished).toBe(200);
  });

  it("passes the lock on after a failure, and releases a cancelled waiter at once", async () => {
    const locks = new Locks();
    const cancel = new AbortController();
    let ran = false;
    let fail = () => {};
    const failing = locks.hold(
      ["/a"],
      () =>
        new Promise<void>((_, reject) => {
          fail = () => reject(new Error("disk on fire"));
        }),
    );
    const waiting = locks.hold(
      ["/a"],
      async () => {
        ran = true;
      },
      cancel.signal,
    );
    const third = locks.hold(["/a"], async () => "third");
    cancel.abort();
    await expect(waiting).rejects.toThrow();
    expect(await Promise.race([third, delay(20, "still waiting")])).toBe("still waiting");
    fail();
    await expect(failing).rejects.toThrow("disk on fire");
    expect(await third).toBe("third");
    expect(ran).toBe(false);
    expect(await locks.hold(["/a"], async () => "free")).toBe("free");
  });
});
