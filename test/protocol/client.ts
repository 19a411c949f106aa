import { type Fields, fieldsAt, MODERN, type Revision } from "./revisions.ts";

export const CLIENT_INFO = { name: "recorder", version: "1.0.0" };

/** All client capabilities of a revision. */
export const CAPABILITIES: Readonly<Record<Revision, Fields>> = {
  "2024-11-05": { roots: { listChanged: true }, sampling: {} },
  "2025-03-26": { roots: { listChanged: true }, sampling: {} },
  "2025-06-18": { roots: { listChanged: true }, sampling: {}, elicitation: {} },
  "2025-11-25": { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } },
  "2026-07-28": { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
};

/** `_meta` of a modern request. */
export function metaOf(capabilities: Fields, version: unknown = MODERN): Fields {
  return {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
  };
}

/**
 * Writes requests as a client of this revision does; in the modern era with its declarations in `_meta`.
 *
 * @param id gives a fresh id for each.
 */
export function requestWriter(revision: Revision, capabilities: Fields, id: () => unknown) {
  return (method: string, params: Fields = {}, meta: Fields = {}): Fields => {
    const claims = revision === MODERN ? metaOf(capabilities) : {};
    const merged = { ...claims, ...meta };
    const full = Object.keys(merged).length === 0 ? params : { ...params, _meta: merged };
    const message = { jsonrpc: "2.0", id: id(), method };
    return Object.keys(full).length === 0 ? message : { ...message, params: full };
  };
}

/** Answers a question of the server with a result; undefined does not answer it. */
export type Answerer = (method: string, params: Fields) => Fields | undefined;

/** The answers of a friendly client: yes to everything, with the first valid value. */
export const likelyAnswer: Answerer = (method, params) => {
  switch (method) {
    case "roots/list":
      return { roots: [{ uri: "file:///nowhere/project", name: "project" }] };
    case "elicitation/create":
      return params.mode === "url"
        ? { action: "accept" }
        : { action: "accept", content: filled(params) };
    case "sampling/createMessage":
      return {
        role: "assistant",
        content: { type: "text", text: "Fine." },
        model: "a-model",
        stopReason: "endTurn",
      };
    default:
      return {};
  }
};

/** A form with a value in each field. */
function filled(params: Fields): Fields {
  const properties = fieldsAt(params, "requestedSchema", "properties");
  return Object.fromEntries(
    Object.keys(properties).map((name) => [name, valueFor(fieldsAt(properties, name))]),
  );
}

function valueFor({ type, format, enum: choices, minimum }: Fields): unknown {
  if (Array.isArray(choices)) return choices[0];
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return typeof minimum === "number" ? minimum : 1;
  if (format === "email") return "somebody@example.com";
  return format === "date" ? "2026-07-28" : "because";
}
