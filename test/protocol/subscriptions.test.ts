import { describe, expect, it } from "vitest";
import { conversation } from "./conversation.ts";
import { probeLauncher } from "./probe.ts";
import { Recorder } from "./recorder.ts";
import { type Fields, fieldsAt, LEGACY_REVISIONS, MODERN, type Revision } from "./revisions.ts";

const launch = probeLauncher();
const COUNT = "probe://count";
const ITEM = "probe://item/a";
/** The URI of a client that does not percent-encode (RFC 3986, section 2.1). */
const RAW = "probe://item/a b ä";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

async function opened(revision: Revision): Promise<Recorder> {
  // Roots that arrive late would change the list of resources by themselves.
  const recorder = new Recorder(launch("--roots", "off"), revision);
  await recorder.open();
  return recorder;
}

/** Makes the server report a change, and waits for all of its notifications. */
async function touch(recorder: Recorder, uri?: string, by = "context"): Promise<Fields[]> {
  const from = recorder.messages.length;
  const args = uri === undefined ? {} : { uri, by };
  await recorder.request("tools/call", { name: "probe_touch", arguments: args });
  await recorder.alive();
  return recorder.messages.slice(from).filter(({ method }) => method !== undefined);
}

const updated = (uri: string) => ({ method: "notifications/resources/updated", params: { uri } });

describe.each(LEGACY_REVISIONS)("%s, subscriptions", (revision) => {
  it("bring updates from resources/subscribe to resources/unsubscribe", async () => {
    const recorder = await opened(revision);
    expect(await touch(recorder, COUNT)).toEqual([]);
    expect(await recorder.request("resources/subscribe", { uri: COUNT })).toMatchObject({
      result: {},
    });
    expect(await recorder.request("resources/subscribe", { uri: COUNT })).toMatchObject({
      result: {},
    });
    expect(await touch(recorder, COUNT)).toMatchObject([updated(COUNT)]);
    expect(await touch(recorder, COUNT, "watcher")).toMatchObject([updated(COUNT)]);
    expect(await touch(recorder, ITEM)).toEqual([]);
    await recorder.request("resources/subscribe", { uri: ITEM });
    await recorder.request("resources/unsubscribe", { uri: COUNT });
    expect(await touch(recorder, COUNT)).toEqual([]);
    expect(await touch(recorder, COUNT, "watcher")).toEqual([]);
    expect(await touch(recorder, ITEM)).toMatchObject([updated(ITEM)]);
    expect(await recorder.finish()).toEqual([]);
  });

  describe("of one connection", () => {
    const talk = conversation(() => launch("--roots", "off"), revision);

    it("of an unencoded URI bring updates of the encoded one", async () => {
      const { recorder } = talk;
      expect(await recorder.request("resources/subscribe", { uri: RAW })).toHaveProperty("result");
      expect(await touch(recorder, RAW, "watcher")).toMatchObject([
        { method: "notifications/resources/updated" },
      ]);
    });

    it("notify that the list of resources changed", async () => {
      const { recorder } = talk;
      expect(await touch(recorder)).toMatchObject([
        { method: "notifications/resources/list_changed" },
      ]);
    });

    it.each(["probe://item/missing", "nothing://there"])("of %s are refused", async (uri) => {
      const { recorder } = talk;
      const error = fieldsAt(await recorder.request("resources/subscribe", { uri }), "error");
      expect([-32602, -32002]).toContain(error.code);
      expect(error.data).toEqual({ uri });
    });
  });
});

describe("2026-07-28, subscriptions", () => {
  /** Opens a stream of notifications; returns its id and what the server accepted. */
  async function listen(recorder: Recorder, notifications: Fields) {
    const message = recorder.message("subscriptions/listen", { notifications });
    const isFirst = ({ params }: Fields) => fieldsAt(params, "_meta")[SUBSCRIPTION] === message.id;
    recorder.expect(message);
    const first = recorder.next(isFirst);
    recorder.write(JSON.stringify(message));
    const acknowledged = await first;
    expect(acknowledged.method).toBe("notifications/subscriptions/acknowledged");
    return { id: message.id, agreed: fieldsAt(acknowledged, "params").notifications };
  }
  const of = (id: unknown, notes: readonly Fields[]) =>
    notes
      .filter(({ params }) => fieldsAt(params, "_meta")[SUBSCRIPTION] === id)
      .map(({ method }) => method);

  it("are acknowledged with what the server accepts", async () => {
    const recorder = await opened(MODERN);
    const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const { agreed } = await listen(recorder, {
      ...all,
      resourceSubscriptions: [COUNT, "nothing://there"],
    });
    expect(agreed).toEqual({ resourcesListChanged: true, resourceSubscriptions: [COUNT] });
    expect((await listen(recorder, {})).agreed).toEqual({});
    expect((await listen(recorder, { resourcesListChanged: false })).agreed).not.toMatchObject({
      resourcesListChanged: true,
    });
    expect(await recorder.finish()).toEqual([]);
  });

  it("bring what each of them asked for, until it is cancelled", async () => {
    const recorder = await opened(MODERN);
    expect(await touch(recorder, COUNT)).toEqual([]);
    const list = await listen(recorder, { resourcesListChanged: true });
    const count = await listen(recorder, { resourceSubscriptions: [COUNT] });
    const both = await listen(recorder, {
      resourcesListChanged: true,
      resourceSubscriptions: [COUNT, ITEM],
    });
    for (const by of ["context", "watcher"]) {
      const ofCount = await touch(recorder, COUNT, by);
      expect(of(list.id, ofCount)).toEqual([]);
      expect(of(count.id, ofCount)).toEqual(["notifications/resources/updated"]);
      expect(of(both.id, ofCount)).toEqual(["notifications/resources/updated"]);
    }
    const ofList = await touch(recorder);
    expect(of(list.id, ofList)).toEqual(["notifications/resources/list_changed"]);
    expect(of(count.id, ofList)).toEqual([]);
    expect(of(both.id, ofList)).toEqual(["notifications/resources/list_changed"]);
    recorder.notify("notifications/cancelled", { requestId: both.id });
    expect(of(both.id, await touch(recorder))).toEqual([]);
    expect(of(both.id, await touch(recorder, COUNT))).toEqual([]);
    expect(await touch(recorder, ITEM)).toEqual([]);
    expect(of(count.id, await touch(recorder, COUNT, "watcher"))).toHaveLength(1);
    expect(await recorder.finish()).toEqual([]);
  });

  it("of an unencoded URI bring updates of the encoded one", async () => {
    const recorder = await opened(MODERN);
    const { id } = await listen(recorder, { resourceSubscriptions: [RAW] });
    expect(of(id, await touch(recorder, RAW, "watcher"))).toEqual([
      "notifications/resources/updated",
    ]);
    expect(await recorder.finish()).toEqual([]);
  });

  it("end with a result when the server does", async () => {
    const recorder = await opened(MODERN);
    const { id } = await listen(recorder, { resourcesListChanged: true });
    expect(await recorder.finish()).toEqual([]);
    const last = recorder.messages.filter((message) => message.id === id && !("method" in message));
    expect(last).toMatchObject([
      { result: { resultType: "complete", _meta: { [SUBSCRIPTION]: id } } },
    ]);
  });

  it("may reuse ids of earlier requests", async () => {
    const recorder = await opened(MODERN);
    const { id } = await listen(recorder, { resourcesListChanged: true });
    recorder.notify("notifications/cancelled", { requestId: id });
    await recorder.alive();
    const again = { ...recorder.message("tools/list"), id };
    expect(await recorder.sendRequest(again)).toHaveProperty("result");
    expect(await recorder.finish()).toEqual([]);
  });
});
