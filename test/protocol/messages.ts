import { type Fields, isFields, listAt, MODERN, type Revision } from "./revisions.ts";
import { type OfficialSchema, officialSchema } from "./schemas.ts";

/**
 * The violations of the official schema of a revision, JSON-RPC 2.0 and the text of that revision by a server's message; empty
 * if it is valid. A message of an unknown kind is invalid.
 *
 * @param requestMethod for a response: the method of its request; omit it if no request could be read.
 */
export function validateServerMessage(
  revision: Revision,
  message: unknown,
  requestMethod?: string,
): string[] {
  const schema = officialSchema(revision);
  if (!isFields(message)) return [`a message is an object, not ${JSON.stringify(message)}`];
  if ("method" in message) {
    return "id" in message
      ? requestProblems(schema, message)
      : notificationProblems(schema, message);
  }
  if ("error" in message) return errorProblems(schema, message, requestMethod);
  if ("result" in message) return resultProblems(schema, message, requestMethod);
  return ["a message has a method, a result or an error"];
}

function requestProblems(schema: OfficialSchema, message: Fields): string[] {
  const method = String(message.method);
  const definition = schema.byMethod("ServerRequest").get(method);
  if (definition === undefined)
    return [`a server of ${schema.revision} does not request ${method}`];
  return [
    ...unknownMembers(message, ["jsonrpc", "id", "method", "params"]),
    ...schema.problems("JSONRPCRequest", message),
    ...schema.problems(definition, message),
  ];
}

function notificationProblems(schema: OfficialSchema, message: Fields): string[] {
  const method = String(message.method);
  const definition = schema.byMethod("ServerNotification").get(method);
  if (definition === undefined) return [`a server of ${schema.revision} does not notify ${method}`];
  return [
    ...unknownMembers(message, ["jsonrpc", "method", "params"]),
    ...schema.problems("JSONRPCNotification", message),
    ...schema.problems(definition, message),
  ];
}

function resultProblems(
  schema: OfficialSchema,
  message: Fields,
  method: string | undefined,
): string[] {
  if (method === undefined) return ["a result answers a request, and there is none"];
  const { result } = message;
  const response = schema.has("JSONRPCResultResponse")
    ? "JSONRPCResultResponse"
    : "JSONRPCResponse";
  const problems = [
    ...unknownMembers(message, ["jsonrpc", "id", "result"]),
    ...schema.problems(response, message),
  ];
  if (!isFields(result)) return [...problems, "a result is an object"];
  const request = schema
    .byMethod("ClientRequest")
    .get(method)
    ?.replace(/Request$/, "");
  if (request === undefined)
    return [...problems, `${schema.revision} has no ${method} that could have a result`];
  const modern = schema.revision === MODERN;
  if (modern && result.resultType === "input_required") {
    return [...problems, ...inputRequiredProblems(schema, `${request}ResultResponse`, result)];
  }
  if (modern && result.resultType !== "complete") {
    problems.push(
      `resultType ${JSON.stringify(result.resultType)} is neither complete nor input_required`,
    );
  }
  if (method === "tools/call" && "task" in result && schema.has("CreateTaskResult"))
    return [...problems, ...schema.problems("CreateTaskResult", result)];
  if (schema.has(`${request}Result`))
    return [...problems, ...schema.problems(`${request}Result`, result)];
  // "EmptyResult: a response that indicates success but carries no data".
  return [
    ...problems,
    ...unknownMembers(result, ["_meta"]),
    ...schema.problems("EmptyResult", result),
  ];
}

/** MCP 2026-07-28, "Multi Round-Trip Requests": which requests may ask back, and what the question must contain. */
function inputRequiredProblems(schema: OfficialSchema, response: string, result: Fields): string[] {
  const problems = schema.problems("InputRequiredResult", result);
  const union = JSON.stringify(schema.definitions[response] ?? {});
  if (!union.includes('"#/$defs/InputRequiredResult"'))
    problems.push(`${response} is never input_required`);
  if (!("inputRequests" in result) && !("requestState" in result)) {
    problems.push("input_required has neither inputRequests nor requestState");
  }
  return [
    ...problems,
    ...unknownMembers(result, ["_meta", "resultType", "inputRequests", "requestState"]),
  ];
}

/** The revisions whose error response requires an `id` that is never null. */
const NO_FORM_WITHOUT_ID: readonly Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18"];

function errorProblems(
  schema: OfficialSchema,
  message: Fields,
  method: string | undefined,
): string[] {
  const problems = unknownMembers(message, ["jsonrpc", "id", "error"]);
  const { revision } = schema;
  let checked = message;
  if (method === undefined && NO_FORM_WITHOUT_ID.includes(revision)) {
    // These schemas have no form for a request with an unknown id: JSON-RPC 2.0, section 5, applies.
    if (message.id !== null)
      problems.push("an error without a request has the id null (JSON-RPC 2.0, section 5)");
    checked = { ...message, id: 0 };
  } else if (method === undefined && "id" in message) {
    problems.push(`an error without a request has no id in ${revision}`);
  } else if (method !== undefined && !("id" in message)) {
    problems.push("an error that answers a request has its id");
  }
  const code = isFields(message.error) ? message.error.code : undefined;
  const definition = schema.has("JSONRPCErrorResponse") ? "JSONRPCErrorResponse" : "JSONRPCError";
  problems.push(
    ...schema.problems(definition, checked),
    ...unknownMembers(message.error, ["code", "message", "data"]),
  );
  const special = errorDefinitions(schema).get(code);
  if (special !== undefined) problems.push(...schema.problems(special, checked));
  if (method === undefined && code !== -32700 && code !== -32600) {
    problems.push(`the code of an error without a request is -32700 or -32600, not ${code}`);
  }
  if (revision === MODERN && typeof code === "number")
    problems.push(...codeProblems(code, special));
  return problems;
}

/** MCP 2026-07-28, "Error Codes": reserved codes, and those that only earlier revisions may send. */
function codeProblems(code: number, special: string | undefined): string[] {
  if (code === -32002 || code === -32042) return [`${code} must not be sent any more in ${MODERN}`];
  if (code <= -32020 && code >= -32099 && special === undefined)
    return [`${code} is reserved in ${MODERN}`];
  return [];
}

/** The definitions of complete error responses with their own code. */
function errorDefinitions(schema: OfficialSchema): ReadonlyMap<unknown, string> {
  const definitions = new Map<unknown, string>();
  for (const [name, definition] of Object.entries(schema.definitions)) {
    for (const part of listAt(definition, "properties", "error", "allOf")) {
      const code = isFields(part.properties) ? part.properties.code : undefined;
      if (isFields(code) && typeof code.const === "number") definitions.set(code.const, name);
    }
  }
  return definitions;
}

/** The schemas leave every object open; what JSON-RPC 2.0 itself defines is closed here. */
function unknownMembers(value: unknown, known: readonly string[]): string[] {
  if (!isFields(value)) return [];
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  return unknown.map((key) => `unknown member ${JSON.stringify(key)}`);
}
