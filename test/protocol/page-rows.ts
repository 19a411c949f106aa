import type { Recorder } from "./recorder.ts";
import { type Fields, fieldsAt, listAt } from "./revisions.ts";

/** A connection to the probe server, and what opened it. */
export interface Talk {
  readonly recorder: Recorder;
  readonly opening: Fields;
  /** The methods of the server's questions so far, in order. */
  readonly asked: readonly string[];
}

/** Determines the content of a cell in one revision. */
type Look = (talk: Talk) => Promise<string> | string;

const COUNT = "probe://count";
const YES = "yes";
const NO = "no";

const yes = (is: boolean): string => (is ? YES : NO);

/** Whether a request is answered, or the error. */
const request =
  (method: string, params: Fields = {}): Look =>
  async ({ recorder }) => {
    const reply = await recorder.complete(method, params);
    return "result" in reply ? YES : `no, ${String(fieldsAt(reply, "error").code)}`;
  };

/** Whether there is a method for tasks: another task than the one that is asked for could be answered. */
const task =
  (method: string, params: Fields = {}): Look =>
  async (talk) => {
    const cell = await request(method, { taskId: "none", ...params })(talk);
    return cell === "no, -32601" ? cell : YES;
  };

/** Calls a tool and answers the server's questions during the call. */
const call = (
  recorder: Recorder,
  name: string,
  args: Fields = {},
  meta: Fields = {},
): Promise<Fields> => recorder.complete("tools/call", { name, arguments: args }, meta);

/** How the client is asked during a call. */
const question =
  (method: string, tool: string): Look =>
  async ({ recorder, asked }) => {
    const [from, before] = [recorder.messages.length, asked.length];
    await call(recorder, tool);
    if (!asked.slice(before).includes(method)) return NO;
    const isRequest = recorder.messages.slice(from).some((message) => message.method === method);
    return isRequest ? "request" : "`input_required`";
  };

/** The notifications of one kind that a step causes. */
async function notifications(
  recorder: Recorder,
  method: string,
  step: () => unknown,
): Promise<Fields[]> {
  const from = recorder.messages.length;
  await step();
  await recorder.alive();
  return recorder.messages.slice(from).filter((message) => message.method === method);
}

const tools = async ({ recorder }: Talk): Promise<Fields[]> =>
  listAt(await recorder.request("tools/list"), "result", "tools");

const blocks = async ({ recorder }: Talk, tool: string, type: string): Promise<string> => {
  const content = listAt(await call(recorder, tool), "result", "content");
  return content.some((block) => block.type === type) ? YES : "as text";
};

/** Subscribes to updates of the counter as the revision does. */
const subscribe = ({ recorder }: Talk, notifications: Fields): Promise<unknown> => {
  if (!recorder.isModern) return recorder.request("resources/subscribe", { uri: COUNT });
  const message = recorder.message("subscriptions/listen", { notifications });
  recorder.expect(message);
  const acknowledged = recorder.next(
    ({ method }) => method === "notifications/subscriptions/acknowledged",
  );
  recorder.write(JSON.stringify(message));
  return acknowledged;
};

/** The rows of docs/protocol.md that are checked over stdio: the first cell, and how to determine the others. */
export const STDIO_ROWS: Readonly<Record<string, Look>> = {
  "`initialize`": (talk) =>
    talk.recorder.isModern
      ? request("initialize", {
          protocolVersion: "2026-07-28",
          capabilities: {},
          clientInfo: { name: "a", version: "1" },
        })(talk)
      : yes(talk.opening.protocolVersion === talk.recorder.revision),
  "`server/discover`": request("server/discover"),
  "`ping`": request("ping"),
  "`tools/list`": request("tools/list"),
  "`tools/call`": request("tools/call", { name: "probe_echo", arguments: { text: "a" } }),
  "`resources/list`": request("resources/list"),
  "`resources/templates/list`": request("resources/templates/list"),
  "`resources/read`": request("resources/read", { uri: COUNT }),
  "`resources/subscribe`": request("resources/subscribe", { uri: COUNT }),
  "`resources/unsubscribe`": request("resources/unsubscribe", { uri: COUNT }),
  "`subscriptions/listen`": async (talk) => {
    if (talk.recorder.isModern) return yes((await subscribe(talk, {})) !== undefined);
    return request("subscriptions/listen", { notifications: {} })(talk);
  },
  "`prompts/list`": request("prompts/list"),
  "`prompts/get`": request("prompts/get", { name: "probe_greeting", arguments: { who: "Ada" } }),
  "`completion/complete`": request("completion/complete", {
    ref: { type: "ref/prompt", name: "probe_greeting" },
    argument: { name: "who", value: "A" },
  }),
  "`logging/setLevel`": request("logging/setLevel", { level: "debug" }),
  "`tasks/get`, `tasks/cancel`": async (talk) => {
    const cells = [await task("tasks/get")(talk), await task("tasks/cancel")(talk)];
    return cells[0] === cells[1] ? (cells[0] ?? "") : cells.join("; ");
  },
  "`tasks/result`": task("tasks/result"),
  "`tasks/list`": task("tasks/list"),
  "`tasks/update`": task("tasks/update", { inputResponses: {} }),
  "batches of messages": async ({ recorder }) => {
    const messages = [recorder.message("tools/list"), recorder.message("prompts/list")];
    if (recorder.revision === "2025-03-26")
      for (const message of messages) recorder.expect(message);
    const [from, batches] = [recorder.messages.length, recorder.batches.length];
    recorder.write(JSON.stringify(messages));
    const refusal = () => recorder.messages.slice(from).find((message) => "error" in message);
    const isAnswered = () => recorder.batches.length > batches || refusal() !== undefined;
    while (!isAnswered()) await recorder.alive();
    if (recorder.batches.length > batches) return YES;
    const error = refusal();
    return `no, ${String(fieldsAt(error, "error").code)}`;
  },
  "`roots/list`": question("roots/list", "probe_extra"),
  "`elicitation/create`, a form": question("elicitation/create", "probe_form"),
  "`elicitation/create`, a URL": question("elicitation/create", "probe_visit"),
  "`sampling/createMessage`": question("sampling/createMessage", "probe_sample"),
  progress: async ({ recorder }) => {
    const step = () => call(recorder, "probe_log", {}, { progressToken: "p" });
    return yes((await notifications(recorder, "notifications/progress", step)).length > 0);
  },
  "progress with a message": async ({ recorder }) => {
    const step = () => call(recorder, "probe_slow", { ms: 1 }, { progressToken: "q" });
    const said = await notifications(recorder, "notifications/progress", step);
    return yes(said.some((message) => fieldsAt(message, "params").message !== undefined));
  },
  "log messages": async ({ recorder }) => {
    const meta: Fields = recorder.isModern ? { "io.modelcontextprotocol/logLevel": "info" } : {};
    if (!recorder.isModern) await recorder.request("logging/setLevel", { level: "info" });
    const step = () => call(recorder, "probe_log", {}, meta);
    return yes((await notifications(recorder, "notifications/message", step)).length > 0);
  },
  "resource updates": async (talk) => {
    await subscribe(talk, { resourceSubscriptions: [COUNT] });
    const step = () => call(talk.recorder, "probe_touch", { uri: COUNT });
    return yes(
      (await notifications(talk.recorder, "notifications/resources/updated", step)).length > 0,
    );
  },
  "changes to the resource list": async (talk) => {
    await subscribe(talk, { resourcesListChanged: true });
    const step = () => call(talk.recorder, "probe_touch");
    return yes(
      (await notifications(talk.recorder, "notifications/resources/list_changed", step)).length > 0,
    );
  },
  "cancelling a call": async ({ recorder }) => {
    const slow = recorder.message("tools/call", { name: "probe_slow", arguments: { ms: 30_000 } });
    recorder.expect(slow);
    recorder.write(JSON.stringify(slow));
    recorder.notify("notifications/cancelled", { requestId: slow.id });
    await recorder.alive();
    return yes(!recorder.messages.some(({ id }) => id === slow.id));
  },
  "`completions` declared": ({ opening }) =>
    yes("completions" in fieldsAt(opening, "capabilities")),
  "tool annotations": async (talk) =>
    yes((await tools(talk)).every((tool) => "annotations" in tool)),
  titles: async (talk) => yes((await tools(talk)).every((tool) => "title" in tool)),
  "`outputSchema`": async (talk) => yes((await tools(talk)).some((tool) => "outputSchema" in tool)),
  "`structuredContent`": async ({ recorder }) =>
    yes("structuredContent" in fieldsAt(await call(recorder, "probe_count"), "result")),
  "links to resources": (talk) => blocks(talk, "probe_link", "resource_link"),
  audio: (talk) => blocks(talk, "probe_media", "audio"),
  "`resultType`": async ({ recorder }) =>
    yes("resultType" in fieldsAt(await call(recorder, "probe_count"), "result")),
  "`ttlMs` and `cacheScope`": async ({ recorder }) => {
    const result = fieldsAt(await recorder.request("tools/list"), "result");
    return yes("ttlMs" in result && "cacheScope" in result);
  },
  "a missing resource": async ({ recorder }) => {
    const reply = await recorder.complete("resources/read", { uri: "probe://item/missing" });
    return String(fieldsAt(reply, "error").code);
  },
};
