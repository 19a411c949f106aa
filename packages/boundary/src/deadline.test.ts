import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runScript } from "../test/fixtures/script.ts";
import { startDeadline } from "./deadline.ts";

describe("a deadline", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  const parent = () => new AbortController();
  const listeners = ({ signal }: AbortController) => getEventListeners(signal, "abort").length;

  it("aborts when its time is over, with the caller's reason", () => {
    const plain = startDeadline(1_000);
    const named = startDeadline(1_000, undefined, () => new Error("too late"));
    vi.advanceTimersByTime(999);
    expect(plain.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(plain.signal.reason).toMatchObject({ name: "TimeoutError" });
    expect(named.signal.reason).toMatchObject({ message: "too late" });
  });

  it("aborts with its parent, even with one that was already aborted", () => {
    const caller = parent();
    const early = startDeadline(1_000, caller.signal);
    caller.abort("enough");
    const late = startDeadline(1_000, caller.signal);
    expect([early.signal.reason, late.signal.reason]).toEqual(["enough", "enough"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<[string, (deadline: ReturnType<typeof startDeadline>) => void]>([
    ["its work is done", ({ end }) => end()],
    ["it is aborted", ({ abort }) => abort("stop")],
    ["its time is over", () => vi.advanceTimersByTime(1_000)],
  ])("leaves no timer and no listener when %s", (_when, finish) => {
    const caller = parent();
    const deadline = startDeadline(1_000, caller.signal);
    expect([vi.getTimerCount(), listeners(caller)]).toEqual([1, 1]);
    finish(deadline);
    expect([vi.getTimerCount(), listeners(caller)]).toEqual([0, 0]);
    const { aborted } = deadline.signal;
    caller.abort();
    vi.advanceTimersByTime(10_000);
    expect(deadline.signal.aborted).toBe(aborted);
  });

  it("starts again while work makes progress, with the same time or another one", () => {
    const { signal, restart } = startDeadline(1_000, undefined, () => "late");
    for (let count = 0; count < 5; count++) {
      vi.advanceTimersByTime(900);
      restart();
    }
    restart(5_000);
    vi.advanceTimersByTime(4_999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toBe("late");
    restart();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("without a limit waits only for its parent", () => {
    const caller = parent();
    const { signal } = startDeadline(Number.POSITIVE_INFINITY, caller.signal);
    expect(vi.getTimerCount()).toBe(0);
    caller.abort();
    expect(signal.aborted).toBe(true);
  });
});

describe("deadlines referenced only by their listeners", () => {
  const run = (script: string) => runScript(script, import.meta.dirname);

  it("fire after a garbage collection", async () => {
    const script = `
      import { startDeadline } from "./deadline.ts";
      const parent = new AbortController();
      let left = 50;
      const alive = setTimeout(() => undefined, 30_000);
      for (let one = 0; one < 50; one++)
        startDeadline(300, parent.signal).signal.addEventListener("abort", () => {
          left -= 1;
          if (left === 0) clearTimeout(alive);
        });
      for (let round = 0; round < 5; round++) {
        globalThis.gc();
        await new Promise((resolve) => setImmediate(resolve));
      }
      process.on("exit", () => console.log(left, "left"));`;
    expect(await run(script)).toBe("0 left\n");
  });

  it("do not keep a process running", async () => {
    const script = `
      import { startDeadline } from "./deadline.ts";
      startDeadline(1_000_000).signal.addEventListener("abort", () => undefined);
      process.on("exit", () => console.log("ended"));`;
    expect(await run(script)).toBe("ended\n");
  });
});
