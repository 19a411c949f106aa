import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundleServer, Child } from "../../test/fixtures/child.ts";
import { call, initialize, notification, request } from "../../test/fixtures/messages.ts";
import type { Settings } from "../../test/fixtures/stdio-server.ts";

let bundle: Bundle;
const children: Child[] = [];

beforeAll(async () => {
  bundle = await bundleServer();
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
});
afterAll(() => bundle.remove());

/** A child with an open connection. */
async function open(settings?: Settings): Promise<Child> {
  const child = new Child(bundle, settings);
  children.push(child);
  child.send(initialize(), notification("notifications/initialized"));
  await child.next();
  return child;
}

describe.skipIf(process.platform === "win32")("signals", () => {
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s aborts at once, closes the context and exits with 0",
    async (signal) => {
      const child = await open({ graceMs: 60_000 });
      child.send(call(1, "sleep", { ms: 60_000 }), request(2, "ping"));
      await child.next();
      child.process.kill(signal);
      expect(await child.rest()).toMatchObject([{ id: 1, error: { code: -32603 } }]);
      expect(await child.exit).toEqual({ code: 0, signal: null });
      expect(child.stderr).toContain(`ending: ${signal}`);
      expect(child.stderr.match(/sleep aborted/g)).toHaveLength(1);
      expect(child.stderr.match(/context closed/g)).toHaveLength(1);
    },
  );

  it("received twice exits at once, even if closing hangs", async () => {
    const child = await open({ closing: "hang" });
    child.process.kill("SIGINT");
    await child.says("ending: SIGINT");
    child.process.kill("SIGINT");
    expect(await child.exit).toEqual({ code: 0, signal: null });
    expect(child.stderr).not.toContain("closing takes longer");
  });
});

it.skipIf(process.platform === "win32")(
  "a signal while an uncaught exception ends the process leaves its exit code",
  async () => {
    const child = await open({ closing: "hang" });
    child.send(call(1, "throw_later"));
    await child.says("ending: uncaught exception");
    child.process.kill("SIGINT");
    expect(await child.exit).toEqual({ code: 1, signal: null });
  },
);

describe("exiting", () => {
  it("does not wait for a context that never closes", async () => {
    const child = await open({ closing: "hang" });
    child.process.stdin.end();
    expect(await child.exit).toEqual({ code: 0, signal: null });
    expect(child.stderr).toContain("closing takes longer than 2000 ms");
    expect(child.stderr).not.toContain("context closed");
  });

  it("is forced if closing blocks the event loop", async () => {
    const child = await open({ closing: "block" });
    child.process.stdin.end();
    const { code, signal } = await child.exit;
    expect(process.platform === "win32" ? code : signal).toBe(
      process.platform === "win32" ? 1 : "SIGKILL",
    );
  });
});

describe("an uncaught error", () => {
  it.each([
    ["throw_later", "uncaught exception: TypeError: planted exception | at "],
    ["throw_text_later", "uncaught exception: planted text\n"],
  ])("as an exception ends the process with 1, in order: %s", async (tool, line) => {
    const child = await open();
    child.send(call(1, "sleep", { ms: 60_000 }), call(2, tool));
    const replies = await child.rest();
    expect(replies).toMatchObject([{ id: 2 }, { id: 1, error: { code: -32603 } }]);
    expect(await child.exit).toEqual({ code: 1, signal: null });
    expect(child.stderr).toContain(line);
    expect(child.stderr).toContain("context closed");
    // One line, without the rest of the stack.
    expect(child.stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    ["reject_later", "unhandled rejection: Error: planted rejection"],
    ["lose_peer_later", "uncaught exception: Error: write EPIPE"],
  ])("is logged and ignored if it leaves no work half done: %s", async (tool, line) => {
    const child = await open();
    child.send(call(1, tool));
    await child.next();
    await child.says(line);
    child.send(request(2, "ping"));
    expect(await child.next()).toMatchObject({ id: 2, result: {} });
    child.process.stdin.end();
    expect(await child.exit).toEqual({ code: 0, signal: null });
  });
});
