import { describe, expect, it } from "vitest";
import {
  eventsOf,
  type HttpProbe,
  modernCall,
  modernListen,
  openSession,
  post,
  useProbes,
} from "../../../test/fixtures/http.ts";

const COUNT = "probe://count";
const ITEM = "probe://item/a";
const { start, closeLater } = useProbes();

/** A probe whose context is open, so that its resources can change. */
async function startOpen(): Promise<HttpProbe> {
  const probe = await start();
  const { message, headers } = modernCall("probe_count", {});
  await (await post(probe.url, message, headers)).text();
  return probe;
}

interface Stream {
  readonly heard: Record<string, unknown>[];
  /** The received messages, without the beginning of the stream. */
  updates(): unknown[];
  leave(): void;
}

/** Reads a stream in the background. */
function follow(response: Response, vanish: AbortController): Stream {
  expect(response.status).toBe(200);
  const heard: Record<string, unknown>[] = [];
  const reading = (async () => {
    for await (const message of eventsOf(response)) heard.push(message);
  })().catch(() => undefined);
  closeLater({
    close: async () => {
      vanish.abort();
      await reading;
    },
  });
  return {
    heard,
    updates: () =>
      heard.flatMap(({ method, params }) =>
        method === "notifications/resources/updated" ? [Object(params).uri] : [],
      ),
    leave: () => vanish.abort(),
  };
}

async function legacyStream(url: URL, headers: Record<string, string>): Promise<Stream> {
  const vanish = new AbortController();
  const { signal } = vanish;
  return follow(
    await fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal }),
    vanish,
  );
}

async function modernStream(url: URL, notifications: Record<string, unknown>): Promise<Stream> {
  const vanish = new AbortController();
  const { message, headers } = modernListen(notifications);
  const stream = follow(await post(url, message, headers, vanish.signal), vanish);
  await expect.poll(() => stream.heard[0]?.method).toBe("notifications/subscriptions/acknowledged");
  return stream;
}

async function subscribe(
  url: URL,
  headers: Record<string, string>,
  uri: string,
  method = "resources/subscribe",
) {
  const response = await post(url, { jsonrpc: "2.0", id: uri, method, params: { uri } }, headers);
  return response.text();
}

function change(probe: HttpProbe, uri: string): void {
  const changed = probe.probes[0]?.watchers.get(uri);
  if (changed === undefined) throw new Error(`nobody watches ${uri}`);
  changed();
}

describe("a legacy session over HTTP", () => {
  it("gets what changes on the stream that it opened last, and stops watching when it ends", async () => {
    const probe = await startOpen();
    const { url } = probe;
    const session = await openSession(url);
    await subscribe(url, session, COUNT);
    const first = await legacyStream(url, session);
    change(probe, COUNT);
    await expect.poll(() => first.updates()).toHaveLength(1);
    const second = await legacyStream(url, session);
    change(probe, COUNT);
    await expect.poll(() => second.updates()).toEqual([COUNT]);
    expect(first.updates()).toHaveLength(1);
    expect((await fetch(url, { method: "DELETE", headers: session })).status).toBe(200);
    await expect.poll(() => probe.probes[0]?.watchers.size).toBe(0);
  });
});

describe("a modern client over HTTP", () => {
  it("receives on each stream what that stream requested", async () => {
    const probe = await startOpen();
    const { url } = probe;
    const count = await modernStream(url, {
      resourceSubscriptions: [COUNT, "probe://item/missing"],
    });
    const both = await modernStream(url, { resourceSubscriptions: [COUNT, ITEM] });
    expect(count.heard[0]?.params).toMatchObject({
      notifications: { resourceSubscriptions: [COUNT] },
    });
    change(probe, COUNT);
    change(probe, ITEM);
    await expect.poll(() => count.updates()).toEqual([COUNT]);
    await expect.poll(() => both.updates()).toEqual([COUNT, ITEM]);
    expect(probe.serving.load.requests.used).toBe(0);
    both.leave();
    await expect.poll(() => [...(probe.probes[0]?.watchers.keys() ?? [])]).toEqual([COUNT]);
    change(probe, COUNT);
    await expect.poll(() => count.updates()).toEqual([COUNT, COUNT]);
    count.leave();
    await expect.poll(() => probe.probes[0]?.watchers.size).toBe(0);
  });
});
