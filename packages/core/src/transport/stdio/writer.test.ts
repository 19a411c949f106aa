import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { LineWriter } from "./lines.ts";

/** An output that completes a write only on request. */
class SlowOutput extends Writable {
  readonly writes: string[] = [];
  #done: ((error?: Error) => void) | undefined;

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.writes.push(chunk);
    this.#done = done;
  }

  /** Waits for the write with this number. */
  async begun(count: number): Promise<void> {
    while (this.writes.length < count) await new Promise(setImmediate);
  }

  /** Finishes the current write. */
  take(error?: Error): void {
    this.#done?.(error);
  }
}

function start(maxQueued = 1000) {
  const output = new SlowOutput();
  const broken: string[] = [];
  let drained = 0;
  const writer = new LineWriter(output, {
    maxQueued,
    onDrain: () => drained++,
    onBroken: (error) => broken.push(error.message),
  });
  return { output, writer, broken, drained: () => drained };
}

describe("LineWriter", () => {
  it("writes all lines of a tick at once, and the next ones after that write", async () => {
    const { output, writer } = start();
    writer.write("1");
    writer.write("2");
    await output.begun(1);
    writer.write("3");
    writer.write("4");
    await new Promise(setImmediate);
    expect(output.writes).toEqual(["1\n2\n"]);
    output.take();
    await output.begun(2);
    expect(output.writes).toEqual(["1\n2\n", "3\n4\n"]);
  });

  it("escapes what some readers treat as a line break", async () => {
    const { output, writer } = start();
    writer.write(JSON.stringify({ text: "a\u2028b\u2029c" }));
    await output.begun(1);
    expect(output.writes).toEqual(['{"text":"a\\u2028b\\u2029c"}\n']);
    expect(JSON.parse(output.writes[0] ?? "")).toEqual({ text: "a\u2028b\u2029c" });
  });

  it("is full at a limit, until the output has drained", async () => {
    const { output, writer, drained } = start(100);
    writer.write("a".repeat(60));
    await output.begun(1);
    expect(writer.isFull).toBe(false);
    writer.write("b".repeat(60));
    expect(writer.isFull).toBe(true);
    output.take();
    await output.begun(2);
    expect([writer.isFull, drained()]).toEqual([false, 1]);
  });

  it("sends a notification once while it waits in a blocked queue", async () => {
    const { output, writer } = start();
    writer.write("1");
    await output.begun(1);
    writer.writeNotification("same");
    writer.writeNotification("same");
    writer.write("x".repeat(70_000));
    expect(writer.isBlocked).toBe(true);
    for (let round = 0; round < 1000; round++) {
      writer.writeNotification("same");
      writer.writeNotification("other");
    }
    output.take();
    await output.begun(2);
    expect(output.writes[1]).toBe(`same\nsame\n${"x".repeat(70_000)}\nsame\nother\n`);
    writer.writeNotification("same");
    output.take();
    await output.begun(3);
    expect(output.writes[2]).toBe("same\n");
  });

  it("writes within the tick if there is much output, so that a flood hits the limit", async () => {
    const { output, writer } = start();
    for (let line = 0; line < 10_000; line++) writer.write("0123456789");
    expect(output.writes).toHaveLength(1);
    expect(writer.isBlocked).toBe(false);
    for (let line = 0; line < 10_000; line++) writer.write("0123456789");
    expect([output.writes.length, writer.isBlocked]).toEqual([1, true]);
  });

  it("is idle when everything is written", async () => {
    const { output, writer } = start();
    expect(writer.isIdle).toBe(true);
    writer.write("1");
    await output.begun(1);
    writer.write("2");
    output.take();
    await output.begun(2);
    expect(writer.isIdle).toBe(false);
    output.take();
    await expect.poll(() => writer.isIdle).toBe(true);
  });

  it.each([
    [
      "a failed write",
      (output: SlowOutput) => output.take(new Error("write EPIPE")),
      "write EPIPE",
    ],
    ["an error of the stream", (output: SlowOutput) => output.destroy(new Error("gone")), "gone"],
    ["the end of the stream", (output: SlowOutput) => output.destroy(), "The output was closed."],
  ])("breaks once by %s, and then is idle", async (_name, harm, message) => {
    const { output, writer, broken } = start();
    writer.write("1");
    await output.begun(1);
    harm(output);
    await new Promise(setImmediate);
    writer.write("2");
    await new Promise(setImmediate);
    expect(broken).toEqual([message]);
    expect(writer.isIdle).toBe(true);
    expect(output.writes).toEqual(["1\n"]);
  });
});
