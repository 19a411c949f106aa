import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundleServer, Child } from "../../../test/fixtures/child.ts";
import { call, initialize, notification, request } from "../../../test/fixtures/messages.ts";
import type { Settings } from "../../../test/fixtures/stdio-server.ts";
import type { Reply } from "../../../test/fixtures/wire.ts";

const MiB = 1024 * 1024;
const said = (text: string) => ({ content: [{ type: "text", text }] });

let bundle: Bundle;
const children: Child[] = [];

beforeAll(async () => {
  bundle = await bundleServer();
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
});
afterAll(() => bundle.remove());

/** The child's heap limit; unlike in the resident size, garbage does not count. */
const SMALL_HEAP = ["--max-old-space-size=128"];

function start(settings?: Settings, nodeOptions?: readonly string[]): Child {
  const child = new Child(bundle, settings, nodeOptions);
  children.push(child);
  return child;
}

/** A child with an open legacy connection. */
async function open(settings?: Settings, nodeOptions?: readonly string[]): Promise<Child> {
  const child = start(settings, nodeOptions);
  child.send(initialize(), notification("notifications/initialized"));
  await child.next();
  return child;
}

/** The child's current and peak memory, in bytes. */
async function memory(child: Child): Promise<{ rss: number; peak: number }> {
  child.send(call("memory", "memory"));
  for (;;) {
    const reply = await child.next();
    const content = reply.id === "memory" ? reply.result?.content : undefined;
    if (Array.isArray(content)) return JSON.parse(content[0].text);
  }
}

/** Writes as much as the pipe accepts, and waits whenever it is full. */
async function pour(child: Child, chunk: Buffer | string, times: number): Promise<void> {
  const { stdin } = child.process;
  for (let turn = 0; turn < times; turn++) {
    if (!stdin.write(chunk)) await new Promise((resolve) => stdin.once("drain", resolve));
  }
}

describe("memory", () => {
  it("does not grow with 400 MB of garbage without a newline", async () => {
    const child = await open({ maxLineBytes: MiB });
    const before = await memory(child);
    await pour(child, Buffer.alloc(MiB, "x"), 400);
    child.send("");
    expect((await child.next()).error).toMatchObject({ code: -32600 });
    const after = await memory(child);
    expect(after.peak - before.peak).toBeLessThan(200 * MiB);
    child.send(request(1, "ping"));
    expect(await child.next()).toMatchObject({ id: 1, result: {} });
  });

  it("is bounded if the client does not read, and nothing is lost", async () => {
    const child = await open({}, SMALL_HEAP);
    child.process.stdout.pause();
    const count = 2500;
    // 250 MB of answers, asked for by a request each.
    const asking = (async () => {
      for (let id = 0; id < count; id++)
        await pour(child, `${JSON.stringify(call(id, "blob", { chars: 100_000 }))}\n`, 1);
    })();
    await sleep(1000);
    child.process.stdout.resume();
    await asking;
    const seen = new Set<unknown>();
    while (seen.size < count) seen.add((await child.next()).id);
  });

  it("is bounded if the server writes a lot to a client that does not read", async () => {
    const child = await open({}, SMALL_HEAP);
    child.process.stdout.pause();
    child.send(call(1, "progress", { count: 200_000 }), call(2, "updates", { count: 200_000 }));
    await Promise.all([child.says("progress done"), child.says("updates done")]);
    child.process.stdout.resume();
    const done = new Set<unknown>();
    let notifications = 0;
    while (done.size < 2) {
      const reply = await child.next();
      if (reply.method === undefined) done.add(reply.id);
      else notifications += 1;
    }
    // 400 MB were said.
    expect(notifications).toBeLessThan(10_000);
  });
});

describe("the end of the input", () => {
  it("lets a call finish however long it takes if the whole input came at once", async () => {
    const child = start();
    child.process.stdin.end(
      [initialize("2025-06-18"), call(1, "sleep", { ms: 2_500 })]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(""),
    );
    expect((await child.rest()).at(-1)).toMatchObject({ id: 1, result: said("slept") });
    expect(await child.exit).toEqual({ code: 0, signal: null });
  });

  it("aborts unfinished calls, answers them with an error, and exits with 0", async () => {
    const child = await open();
    child.send(call(1, "sleep", { ms: 60_000 }), call(2, "sleep", { ms: 60_000, stubborn: true }));
    child.process.stdin.end();
    expect(await child.rest()).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, error: { code: -32603 } },
    ]);
    expect(await child.exit).toEqual({ code: 0, signal: null });
    expect(child.stderr.match(/sleep aborted/g)).toHaveLength(2);
  });

  it("flushes queued output for a client that reads slowly", async () => {
    const child = await open();
    child.process.stdout.pause();
    child.send(call(1, "blob", { chars: 3 * MiB }));
    child.process.stdin.end();
    await sleep(300);
    child.process.stdout.resume();
    const [reply] = await child.rest();
    expect(JSON.stringify(reply?.result).length).toBeGreaterThan(3 * MiB);
    expect((await child.exit).code).toBe(0);
  });

  it("leaves time for closing the context if the client neither reads nor lets a call finish", async () => {
    const child = await open();
    child.process.stdout.pause();
    child.send(call(1, "blob", { chars: 3 * MiB }), call(2, "sleep", { ms: 60_000 }));
    child.process.stdin.end();
    await new Promise((resolve) => child.process.once("exit", resolve));
    expect(child.process.exitCode).toBe(0);
    await child.says("context closed");
  });
});

describe("a broken stdout", () => {
  it("ends the server at once", async () => {
    const child = await open({ graceMs: 60_000 });
    child.send(call(1, "sleep", { ms: 60_000 }), call(2, "sleep", { ms: 50 }));
    child.process.stdout.destroy();
    expect(await child.exit).toEqual({ code: 0, signal: null });
    expect(child.stderr).toContain("ending: output broken");
    expect(child.stderr).toContain("sleep aborted");
    expect(child.stderr).toContain("context closed");
  });
});

describe("stdout", () => {
  it("gets nothing but JSON-RPC, even if a library prints", async () => {
    const child = await open();
    child.send(call(1, "chatter"), call(2, "echo", { text: "after" }));
    const replies: Reply[] = [await child.next(), await child.next()];
    expect(replies).toMatchObject([
      { id: 1, result: said("said") },
      { id: 2, result: said("after") },
    ]);
    for (const way of [
      "console.log",
      "console.info",
      "console.debug",
      "process.stdout.write",
      "process.stdout.end",
    ]) {
      await child.says(`by ${way}\n`);
    }
    child.process.stdin.end();
    expect(await child.rest()).toEqual([]);
  });
});

describe("a broken stderr", () => {
  it("does not matter", async () => {
    const child = await open();
    child.process.stderr.destroy();
    await sleep(20);
    for (let id = 0; id < 20; id++) {
      child.send(call(id, "chatter"));
      expect(await child.next()).toMatchObject({ id, result: said("said") });
    }
    child.process.stdin.end();
    await new Promise((resolve) => child.process.once("exit", resolve));
    expect(child.process.exitCode).toBe(0);
  });
});
