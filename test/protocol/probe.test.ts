import { describe, expect, it } from "vitest";
import { conversation } from "./conversation.ts";
import { ALL_TOOLS, BAD_CALLS, GOOD_CALLS, probeLauncher } from "./probe.ts";
import type { Recorder } from "./recorder.ts";
import { type Fields, fieldsAt, listAt, MODERN, REVISIONS, type Revision } from "./revisions.ts";

const launch = probeLauncher();

/** The tools that need a capability which a revision does not have. */
function unanswerable(revision: Revision): string[] {
  const forms = revision < "2025-06-18" ? ["probe_form", "probe_wipe"] : [];
  return [...forms, ...(revision < "2025-11-25" ? ["probe_visit"] : [])];
}

/** All pages of a list. */
async function pages(recorder: Recorder, method: string): Promise<Fields[]> {
  const results: Fields[] = [];
  for (let cursor: unknown; ; ) {
    const reply = await recorder.request(method, cursor === undefined ? {} : { cursor });
    const result = fieldsAt(reply, "result");
    results.push(result);
    cursor = result.nextCursor;
    if (cursor === undefined) return results;
  }
}

const codeOf = (reply: Fields) => fieldsAt(reply, "error").code;
const dataOf = (reply: Fields) => fieldsAt(reply, "error", "data");

describe.each(REVISIONS)("%s, the probe server", (revision) => {
  const talk = conversation(() => launch(...ALL_TOOLS), revision);
  const isModern = revision === MODERN;

  it("opens", () => {
    const { opening } = talk;
    const server = isModern
      ? fieldsAt(opening, "_meta", "io.modelcontextprotocol/serverInfo")
      : fieldsAt(opening, "serverInfo");
    expect(server).toMatchObject({ name: "refmcp-probe", title: "Probe", version: "1.2.3" });
    expect(opening.instructions).toBe("Call the probes.");
    expect(opening.capabilities).toMatchObject({
      tools: {},
      resources: { subscribe: true },
      prompts: {},
      logging: {},
    });
    if (isModern) expect(opening.supportedVersions).toContain(revision);
    else expect(opening.protocolVersion).toBe(revision);
  });

  it("lists its tools in the same order each time", async () => {
    const [first, second] = await Promise.all(
      [0, 1].map(() => talk.recorder.request("tools/list")),
    );
    const names = listAt(first, "result", "tools").map(({ name }) => name);
    expect(names).toEqual([...Object.keys(GOOD_CALLS), "probe_careless", "probe_fail"].sort());
    expect(second?.result).toEqual(first?.result);
  });

  it.each(["tools/list", "prompts/list", "resources/list", "resources/templates/list"])(
    "returns %s in pages with the same hints",
    async (method) => {
      const results = await pages(talk.recorder, method);
      expect(results.length).toBe(method === "resources/list" ? 2 : 1);
      const [first] = results;
      for (const result of results) {
        expect("ttlMs" in result && "cacheScope" in result && "resultType" in result).toBe(
          isModern,
        );
        expect(result.cacheScope).toBe(first?.cacheScope);
      }
    },
  );

  it.each(Object.entries(GOOD_CALLS))("calls %s", async (name, args) => {
    const meta = { progressToken: `for ${name}`, "io.modelcontextprotocol/logLevel": "debug" };
    const result = fieldsAt(
      await talk.recorder.complete("tools/call", { name, arguments: args }, meta),
      "result",
    );
    const refuses = unanswerable(revision).includes(name);
    expect(result.isError === true, JSON.stringify(result)).toBe(refuses);
    expect(listAt(result, "content").length).toBeGreaterThan(0);
  });

  it.each(BAD_CALLS)("has %s explain what is wrong with %j", async (name, args) => {
    const reply = await talk.recorder.complete("tools/call", { name, arguments: args });
    expect(fieldsAt(reply, "result").isError).toBe(true);
    expect(JSON.stringify(reply)).not.toContain("secret-of-the-stack");
  });

  it("returns only content blocks that the revision supports", async () => {
    const audio = revision < "2025-03-26" ? "text" : "audio";
    const link = revision < "2025-06-18" ? "text" : "resource_link";
    const media = await talk.recorder.complete("tools/call", {
      name: "probe_media",
      arguments: {},
    });
    const kinds = listAt(media, "result", "content").map(({ type }) => type);
    expect(kinds).toEqual(["text", "image", audio, "resource", "resource", link]);
    const linked = await talk.recorder.complete("tools/call", {
      name: "probe_link",
      arguments: {},
    });
    expect(listAt(linked, "result", "content").map(({ type }) => type)).toEqual(["text", link]);
    const tour = await talk.recorder.complete("prompts/get", { name: "probe_tour" });
    const messages = listAt(tour, "result", "messages").map(
      ({ content }) => fieldsAt(content).type,
    );
    expect(messages).toEqual(["text", "image", audio, "resource", link]);
  });

  it("reads resources of text and of bytes", async () => {
    const read = async (uri: string) =>
      listAt(await talk.recorder.complete("resources/read", { uri }), "result", "contents");
    expect(await read("probe://count")).toMatchObject([
      { uri: "probe://count", mimeType: "text/plain" },
    ]);
    expect(await read("probe://item/bytes")).toEqual([{ uri: "probe://item/bytes", blob: "AP8K" }]);
    expect(await read("probe://item/a%20b")).toMatchObject([
      { text: "item a b", mimeType: "text/x-item" },
    ]);
  });

  it.each(["probe://item/missing", "nothing://there", "probe://item/", "probe://count/more"])(
    "does not find %s",
    async (uri) => {
      const reply = await talk.recorder.complete("resources/read", { uri });
      // Until 2025-11-25 the specification says -32002; the SDK writes -32602 in every revision.
      expect(isModern ? [-32602] : [-32602, -32002]).toContain(codeOf(reply));
      expect(dataOf(reply).uri).toBe(uri);
    },
  );

  it("reports an internal error of a resource, without details", async () => {
    const reply = await talk.recorder.complete("resources/read", { uri: "probe://item/broken" });
    expect(codeOf(reply)).toBe(-32603);
    expect(JSON.stringify(reply)).not.toContain("secret-of-the-stack");
  });

  it("gets prompts", async () => {
    const args = { who: "Anna", tone: "kind" };
    const reply = await talk.recorder.complete("prompts/get", {
      name: "probe_greeting",
      arguments: args,
    });
    expect(listAt(reply, "result", "messages")).toMatchObject([
      { role: "user", content: { text: "Greet Anna in a kind tone." } },
    ]);
  });

  it("completes arguments of prompts and variables of templates", async () => {
    const complete = async (ref: Fields, argument: Fields, more: Fields = {}) => {
      const reply = await talk.recorder.request("completion/complete", { ref, argument, ...more });
      return fieldsAt(reply, "result", "completion");
    };
    const prompt = { type: "ref/prompt", name: "probe_greeting" };
    const template = { type: "ref/resource", uri: "probe://item/{name}" };
    const many = await complete(template, { name: "name", value: "x" });
    expect(many).toMatchObject({ total: 150, hasMore: true });
    expect(many.values).toHaveLength(100);
    const context = { context: { arguments: { tone: "kind" } } };
    expect((await complete(prompt, { name: "who", value: "A" }, context)).values).toEqual([
      "Anna",
      "kind",
    ]);
    expect((await complete(prompt, { name: "tone", value: "A" })).values).toEqual([]);
  });
});
