import { type Fields, MODERN, type Revision } from "./revisions.ts";

/** A valid message of a server. */
export interface Sample {
  readonly message: Fields;
  /** The method that it answers, for a response. */
  readonly method?: string;
}

const text = { type: "text", text: "Hello." };
const image = { type: "image", data: "AAAA", mimeType: "image/png" };
const audio = { type: "audio", data: "AAAA", mimeType: "audio/wav" };
const embedded = {
  type: "resource",
  resource: { uri: "a://b", text: "x", mimeType: "text/plain" },
};
const embeddedBytes = { type: "resource", resource: { uri: "a://b", blob: "AAAA" } };
const link = { type: "resource_link", uri: "a://b", name: "b", mimeType: "text/plain", size: 3 };

const since = (revision: Revision, first: Revision, value: Fields): Fields =>
  revision >= first ? value : {};

/** The content blocks of a revision. */
export function blocksOf(revision: Revision): Fields[] {
  return [
    { ...text, annotations: { audience: ["user"], priority: 0.5 } },
    image,
    embedded,
    embeddedBytes,
    ...(revision >= "2025-03-26" ? [audio] : []),
    ...(revision >= "2025-06-18" ? [link] : []),
  ];
}

/** One valid message of every kind that a server of this revision may send, with as many members as it knows. */
export function samples(revision: Revision): Sample[] {
  const modern = revision === MODERN;
  const result = (method: string, value: Fields, cached = false): Sample => {
    const caching = modern && cached ? { ttlMs: 1000, cacheScope: "private" } : {};
    return {
      method,
      message: {
        jsonrpc: "2.0",
        id: 1,
        result: { ...value, ...caching, ...(modern ? { resultType: "complete" } : {}) },
      },
    };
  };
  const notify = (method: string, params?: Fields): Sample => {
    return { message: { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) } };
  };
  const error = (code: number, data: Fields): Sample => {
    return {
      method: "tools/list",
      message: { jsonrpc: "2.0", id: "one", error: { code, message: "No.", ...data } },
    };
  };
  const titled = since(revision, "2025-06-18", { title: "A title" });
  const tool = {
    name: "a_tool",
    description: "Does it.",
    inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ...since(revision, "2025-03-26", {
      annotations: { title: "A tool", readOnlyHint: true, openWorldHint: false },
    }),
    ...since(revision, "2025-06-18", { title: "A tool", outputSchema: { type: "object" } }),
  };
  return [
    result("tools/list", { tools: [tool], nextCursor: "next" }, true),
    result("tools/call", {
      content: blocksOf(revision),
      isError: false,
      ...since(revision, "2025-06-18", { structuredContent: { a: 1 } }),
    }),
    result(
      "resources/list",
      { resources: [{ uri: "a://b", name: "b", mimeType: "text/plain", ...titled }] },
      true,
    ),
    result(
      "resources/templates/list",
      { resourceTemplates: [{ uriTemplate: "a://{b}", name: "b", ...titled }] },
      true,
    ),
    result("resources/read", { contents: [embedded.resource, embeddedBytes.resource] }, true),
    result(
      "prompts/list",
      {
        prompts: [
          { name: "p", description: "A prompt.", arguments: [{ name: "a", required: true }] },
        ],
      },
      true,
    ),
    result("prompts/get", {
      description: "A prompt.",
      messages: [
        ...blocksOf(revision).map((content) => ({ role: "user", content })),
        { role: "assistant", content: text },
      ],
    }),
    result("completion/complete", { completion: { values: ["a"], total: 1, hasMore: false } }),
    error(-32602, {}),
    error(-32603, { data: { why: 1 } }),
    notify("notifications/resources/list_changed"),
    notify("notifications/tools/list_changed"),
    notify("notifications/prompts/list_changed"),
    notify("notifications/resources/updated", { uri: "a://b" }),
    notify("notifications/progress", {
      progressToken: "t",
      progress: 0.5,
      total: 2,
      ...since(revision, "2025-03-26", { message: "Half." }),
    }),
    notify("notifications/message", { level: "info", logger: "a", data: "anything" }),
    notify("notifications/cancelled", { requestId: 3, reason: "Over." }),
    ...(modern ? modernSamples(result, notify) : legacySamples(revision, result)),
  ];
}

function modernSamples(
  result: (method: string, value: Fields, cached?: boolean) => Sample,
  notify: (method: string, params: Fields) => Sample,
): Sample[] {
  const subscription = { "io.modelcontextprotocol/subscriptionId": 1 };
  const question = {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: "Well?",
      requestedSchema: { type: "object", properties: { a: { type: "boolean" } } },
    },
  };
  const supported = { supported: [MODERN], requested: "1900-01-01" };
  return [
    result(
      "server/discover",
      {
        supportedVersions: [MODERN],
        capabilities: { tools: { listChanged: true } },
        instructions: "Do.",
      },
      true,
    ),
    result("subscriptions/listen", { _meta: subscription }),
    notify("notifications/subscriptions/acknowledged", {
      _meta: subscription,
      notifications: { toolsListChanged: true },
    }),
    {
      method: "tools/call",
      message: {
        jsonrpc: "2.0",
        id: 1,
        result: {
          resultType: "input_required",
          inputRequests: { a: question, b: { method: "roots/list" } },
          requestState: "s",
        },
      },
    },
    {
      method: "tools/list",
      message: { jsonrpc: "2.0", id: 1, error: { code: -32022, message: "No.", data: supported } },
    },
    { message: { jsonrpc: "2.0", error: { code: -32700, message: "What?" } } },
  ];
}

function legacySamples(
  revision: Revision,
  result: (method: string, value: Fields) => Sample,
): Sample[] {
  const ask = (method: string, params?: Fields): Sample => {
    return {
      message: { jsonrpc: "2.0", id: "q", method, ...(params === undefined ? {} : { params }) },
    };
  };
  const form = {
    type: "object",
    properties: { a: { type: "string", title: "A" }, b: { type: "number", minimum: 0.5 } },
    required: ["a"],
  };
  const hasForms = revision >= "2025-06-18";
  const hasPages = revision >= "2025-11-25";
  return [
    result("initialize", {
      protocolVersion: revision,
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        logging: {},
        prompts: {},
      },
      serverInfo: { name: "s", version: "1" },
      instructions: "Do.",
    }),
    ...["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"].map((method) =>
      result(method, {}),
    ),
    ask("ping"),
    ask("roots/list"),
    ask("sampling/createMessage", {
      messages: [{ role: "user", content: text }],
      maxTokens: 5,
      systemPrompt: "Be brief.",
    }),
    ...(hasForms ? [ask("elicitation/create", { message: "Well?", requestedSchema: form })] : []),
    ...(hasPages
      ? [
          ask("elicitation/create", {
            mode: "url",
            message: "Look.",
            url: "https://example.com",
            elicitationId: "1",
          }),
        ]
      : []),
    {
      message: {
        jsonrpc: "2.0",
        ...(hasPages ? {} : { id: null }),
        error: { code: -32600, message: "What?" },
      },
    },
  ];
}
