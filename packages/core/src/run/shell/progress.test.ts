import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ProgressLine } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function terminal(isTTY = true, columns = 60) {
  const written: string[] = [];
  return {
    isTTY,
    columns,
    write: (text: string) => written.push(text),
    read: () => written.join(""),
  };
}

describe("ProgressLine", () => {
  it("shows a line after half a second, and removes it", () => {
    const there = terminal();
    const line = new ProgressLine(there);
    line.show({ progress: 1, total: 4, message: "first" });
    vi.advanceTimersByTime(499);
    expect(there.read()).toBe("");
    vi.advanceTimersByTime(1);
    line.show({ progress: 3, total: 4, message: "third" });
    line.clear();
    expect(there.read().split("\r\u001b[K")).toEqual(["", "1 of 4 first", "3 of 4 third", ""]);
  });

  it("shows nothing of a short call, and nothing in a pipe", () => {
    const short = terminal();
    const line = new ProgressLine(short);
    line.show({ progress: 1 });
    line.clear();
    const pipe = terminal(false);
    new ProgressLine(pipe).show({ progress: 1 });
    vi.runAllTimers();
    expect(short.read() + pipe.read()).toBe("");
  });

  it.each([
    [{ progress: 7 }, "7"],
    [{ progress: 0.25, total: 1 }, "0.3 of 1"],
    [{ progress: 9, total: 3 }, "9 of 3"],
    [{ progress: 1, total: 0 }, "1 of 0"],
    [{ progress: 1, message: "a\u001b[2Jb\nc" }, "1 a\\u{1b}[2Jb\\nc"],
    [{ progress: 1, message: "x".repeat(99) }, `1 ${"x".repeat(56)}…`],
  ])("%j becomes one line", (params, expected) => {
    const there = terminal();
    new ProgressLine(there).show(params);
    vi.runAllTimers();
    expect(there.read()).toBe(`\r\u001b[K${expected}`);
  });
});
