import { describe, expect, it } from "vitest";
import { createService } from "../../test/fixtures/engine-service.ts";
import { createLog } from "../log.ts";
import { Caller } from "./caller.ts";
import { Load } from "./load.ts";
import { ClientRequest } from "./request.ts";
import { REVISIONS } from "./revision.ts";
import type { Service } from "./service.ts";
import { Subscriptions } from "./subscriptions.ts";

const log = createLog("test", "error", () => undefined);
const revision = REVISIONS.get("2025-11-25");
if (revision === undefined) throw new Error("2025-11-25");
const watching = (watch: Service["watch"], load = new Load()) =>
  new Subscriptions({ ...createService(), watch, log }, load);
const [one, another] = ["one", "another"].map(
  (owner) => new Caller({ send: () => undefined, principal: { key: owner, owner } }),
);
if (one === undefined || another === undefined) throw new Error("two");
const requestOf = (caller: Caller) =>
  new ClientRequest(
    { jsonrpc: "2.0", id: 1, method: "resources/subscribe" },
    {
      revision,
      caller,
      client: caller,
      handler: () => ({}),
      send: () => undefined,
      service: createService(),
      load: new Load(),
      bytes: 0,
      onSettled: () => undefined,
    },
  );

describe("subscriptions", () => {
  it("watch once for all subscribers, and stop with the last", async () => {
    const events: string[] = [];
    const start = (uri: string) => {
      events.push(`start ${uri}`);
      return () => void events.push(`stop ${uri}`);
    };
    const subscriptions = watching(start);
    for (const caller of [one, another, one])
      await subscriptions.subscribe("a:1", requestOf(caller));
    await subscriptions.unsubscribe("a:1", one);
    await subscriptions.unsubscribe("a:1", one);
    expect(events).toEqual(["start a:1"]);
    await subscriptions.leave(another);
    expect(events).toEqual(["start a:1", "stop a:1"]);
  });

  it("are limited, leave others their half where callers are distinguished, and free a slot", async () => {
    const subscriptions = watching(() => () => undefined, new Load({ isShared: true }));
    const subscribe = (index: number, caller: Caller) =>
      subscriptions.subscribe(`a:${index}`, requestOf(caller));
    for (let index = 0; index < 1_000; index++) await subscribe(index, one);
    await expect(subscribe(1_000, one)).rejects.toMatchObject({
      kind: "too_large",
      hint: expect.stringContaining("Unsubscribe"),
    });
    await subscribe(1_000, another);
    await subscriptions.unsubscribe("a:0", one);
    await subscribe(1_001, one);
  });

  it("are started again for the others if the request of the first is cancelled", async () => {
    const requests: ClientRequest[] = [];
    const subscriptions = watching((_uri, _changed, request) => {
      requests.push(request);
      return new Promise((resolve, reject) => {
        request.whenAborted(() => reject(new Error("cancelled")));
        if (requests.length === 2) resolve(() => undefined);
      });
    });
    const first = requestOf(one);
    const cancelled = subscriptions.subscribe("a:1", first);
    const second = requestOf(another);
    const others = [second, requestOf(another)].map((request) =>
      subscriptions.subscribe("a:1", request),
    );
    first.abort();
    await expect(cancelled).rejects.toThrow("cancelled");
    await Promise.all(others);
    expect(requests).toEqual([first, second]);
  });

  it.each([
    [1, [0], ["stop"]],
    [2, [0], []],
    [2, [1], []],
    [2, [0, 1], ["stop"]],
  ])(
    "by %d requests that wait for another's watch end with the last of them that is cancelled: %j",
    async (count, cancelled, expected) => {
      const events: string[] = [];
      let start = (): void => undefined;
      const subscriptions = watching(
        () => new Promise((resolve) => (start = () => resolve(() => void events.push("stop")))),
      );
      const first = subscriptions.subscribe("a:1", requestOf(one));
      const requests = Array.from({ length: count }, () => requestOf(another));
      const joined = requests.map((request) => subscriptions.subscribe("a:1", request));
      for (const index of cancelled) requests[index]?.abort();
      start();
      await Promise.all([first, ...joined]);
      await subscriptions.unsubscribe("a:1", one);
      expect(events).toEqual(expected);
    },
  );

  it("stay if a request that repeats them is cancelled", async () => {
    const events: string[] = [];
    const subscriptions = watching(() => () => void events.push("stop"));
    await subscriptions.subscribe("a:1", requestOf(one));
    const request = requestOf(one);
    const repeated = subscriptions.subscribe("a:1", request);
    request.abort();
    await repeated;
    expect(events).toEqual([]);
  });

  it("release what fails to start", async () => {
    const subscriptions = watching((uri) =>
      uri === "a:broken" ? Promise.reject(new Error("broken")) : () => undefined,
    );
    await expect(subscriptions.subscribe("a:broken", requestOf(one))).rejects.toThrow("broken");
    for (let index = 0; index < 2_000; index++)
      await subscriptions.subscribe(`a:${index}`, requestOf(another));
  });
});
