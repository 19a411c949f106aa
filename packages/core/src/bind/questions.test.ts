import { pathToFileURL } from "node:url";
import type { AllowedDirectories } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { ConnectOptions, Era } from "../../../testing/src/connect.ts";
import { useConnections } from "../../test/fixtures/connect.ts";
import { call, claim, initialize, notification, request } from "../../test/fixtures/messages.ts";
import { rootsOf } from "../../test/fixtures/roots.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { defineServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";
import { META } from "../engine/wire.ts";
import { bind } from "../run/prepare.ts";

interface Done {
  readonly deleted: string[];
}

const tool = toolFor<Done>();
const remove = tool({
  name: "ask_remove",
  ...TOOL,
  effect: "destroy",
  input: z.strictObject({ name: z.string().describe("Its name.") }),
  async run({ name }, done, call) {
    await call.confirm(`Remove ${name}?`);
    done.deleted.push(name);
    return `removed ${name}`;
  },
});
const swallow = tool({
  name: "ask_swallow",
  ...TOOL,
  effect: "change",
  input: z.strictObject({}),
  async run(_input, done, call) {
    try {
      await call.confirm("Go on?");
      done.deleted.push("after the question");
    } catch {
      return "something went wrong";
    }
    return "went on";
  },
});
const visit = tool({
  name: "ask_visit",
  ...TOOL,
  openWorld: true,
  input: z.strictObject({}),
  async run(_input, _done, call) {
    await call.ask("Sign in, please.", new URL("https://example.com/sign-in"));
    return "visited";
  },
});
const think = tool({
  name: "ask_think",
  ...TOOL,
  input: z.strictObject({}),
  async run(_input, _done, call) {
    const { content } = await call.sample({
      messages: [{ role: "user", content: { type: "text", text: "Say four." } }],
      maxTokens: 10,
    });
    return JSON.stringify(content);
  },
});

const attempt = tool({
  name: "ask_attempt",
  ...TOOL,
  input: z.strictObject({}),
  async run(_input, _done, call) {
    const message = { role: "user", content: { type: "text", text: "Say four." } } as const;
    try {
      if (!call.canSample) return "no model";
      return (await call.sample({ messages: [message], maxTokens: 10 })).model;
    } catch (error) {
      return error instanceof ToolError ? `${error.kind}: ${error.message}` : "asked";
    }
  },
});

const form = z.object({ answer: z.string() });
const ask = tool({
  name: "ask_form",
  ...TOOL,
  input: z.strictObject({}),
  run: async (_input, _done, call) => (await call.ask("Who?", form)).answer,
});
const together = tool({
  name: "ask_together",
  ...TOOL,
  input: z.strictObject({}),
  async run(_input, _done, call) {
    const [first, second, roots] = await Promise.all([
      call.ask("First?", form, "first"),
      call.ask("Second?", form),
      rootsOf(call),
    ]);
    return [first.answer, second.answer, ...roots.map(({ uri }) => uri)].join(" ");
  },
});

const done: Done = { deleted: [] };
const server = defineServer({
  name: "ask",
  ...SERVER,
  tools: [remove, swallow, visit, think, attempt, ask, together],
  open: () => done,
});

const connectTo = useConnections();
const connect = async (options: ConnectOptions) => (await connectTo(server, options)).client;
afterEach(() => void done.deleted.splice(0));

it("a tool can do without a model that fails, if the client has a handshake", async () => {
  const client = await connect({
    era: "legacy",
    sample() {
      throw new Error("rejected by the user");
    },
  });
  const { content, isError } = await client.callTool({ name: "ask_attempt", arguments: {} });
  const text = expect.stringMatching(
    /^unavailable: The client did not answer: .*rejected by the user/,
  );
  expect({ content, isError: isError ?? false }).toEqual({
    content: [{ type: "text", text }],
    isError: false,
  });
  const failed = await client.callTool({ name: "ask_think", arguments: {} });
  expect(failed.isError).toBe(true);
});

describe.each<Era>(["legacy", "modern"])("questions, %s era", (era) => {
  it("are asked even if the handler swallows the interruption", async () => {
    const client = await connect({
      era,
      elicit: () => ({ action: "accept", content: { confirm: true } }),
    });
    const result = await client.callTool({ name: "ask_swallow", arguments: {} });
    expect(result.content).toEqual([{ type: "text", text: "went on" }]);
    expect(done.deleted).toEqual(["after the question"]);
  });

  it("may send the user to a page", async () => {
    const asked: unknown[] = [];
    const client = await connect({
      era,
      elicit(params) {
        asked.push(params);
        return { action: "accept" };
      },
    });
    const result = await client.callTool({ name: "ask_visit", arguments: {} });
    expect(result.content).toEqual([{ type: "text", text: "visited" }]);
    expect(asked).toMatchObject([
      { mode: "url", url: "https://example.com/sign-in", message: "Sign in, please." },
    ]);
  });

  it("are refused with a reason if the client cannot be asked", async () => {
    const client = await connect({ era });
    const result = await client.callTool({ name: "ask_visit", arguments: {} });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain("this client does not support URL questions");
    const form = await client.callTool({ name: "ask_form", arguments: {} });
    expect(JSON.stringify(form.content)).toContain("This needs the user's answer, but this client");
    const call = client.callTool({ name: "ask_think", arguments: {} });
    const reason = "which this client does not support";
    if (era === "legacy") {
      expect(await call).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining(reason) }],
      });
    } else {
      await expect(call).rejects.toMatchObject({
        code: -32021,
        message: expect.stringContaining(reason),
        data: { requiredCapabilities: { sampling: {} } },
      });
    }
  });

  it("are asked together if they are independent", async () => {
    const asked: string[] = [];
    const client = await connect({
      era,
      roots: [{ uri: "file:///somewhere" }],
      elicit({ message }) {
        asked.push(message);
        return { action: "accept", content: { answer: `to ${message}` } };
      },
    });
    const result = await client.callTool({ name: "ask_together", arguments: {} });
    expect(result.content).toEqual([
      { type: "text", text: "to First? to Second? file:///somewhere" },
    ]);
    expect(asked.sort()).toEqual(["First?", "Second?"]);
  });
});

it("a confirmation is not valid for another call in the modern era", async () => {
  const wire = new Wire({}, (await bind(server)).service);
  /** The key of the question that a call asks. */
  const questionOf = async (name: string, answers = {}) => {
    const _meta = { ...claim(), [META.capabilities]: { elicitation: {} } };
    const params = { name: "ask_remove", arguments: { name }, _meta, ...answers };
    wire.send(request(1, "tools/call", params));
    return Object.keys(Object((await wire.next()).result?.inputRequests))[0] ?? "";
  };
  const key = await questionOf("a");
  const inputResponses = { [key]: { action: "accept", content: { confirm: true } } };
  const otherKey = await questionOf("b", { inputResponses });
  expect([key, otherKey]).toEqual([expect.stringMatching(/^ask-/), expect.stringMatching(/^ask-/)]);
  expect(otherKey).not.toBe(key);
  expect(done.deleted).toEqual([]);
  await wire.handle.close();
});

it("a client's older list of roots does not replace a newer one that arrives first", async () => {
  const show = toolFor<AllowedDirectories>()({
    name: "roots_show",
    ...TOOL,
    input: z.strictObject({}),
    run: (_input, allowlist) =>
      allowlist
        .directories()
        .map(({ path }) => path)
        .join(),
  });
  const { service } = await bind(
    defineServer({
      name: "roots",
      ...SERVER,
      directories: {},
      tools: [show],
      open: ({ allowlist }) => allowlist,
    }),
  );
  const wire = new Wire({}, service);
  wire.send(initialize("2025-11-25", { roots: {} }), notification("notifications/initialized"));
  await wire.next();
  const { id: olderId } = await wire.next();
  wire.send(notification("notifications/roots/list_changed"));
  const { id: newerId } = await wire.next();
  const [newer, older] = [import.meta.dirname, process.cwd()];
  for (const [id, path] of [
    [newerId, newer],
    [olderId, older],
  ] as const)
    wire.send({ jsonrpc: "2.0", id, result: { roots: [{ uri: pathToFileURL(path ?? "") }] } });
  const { result } = await wire.answer(call(1, "roots_show"));
  expect(result?.content).toEqual([{ type: "text", text: newer }]);
  await wire.handle.close();
});
