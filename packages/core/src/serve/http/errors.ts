import type { RequestId } from "@modelcontextprotocol/server";
import { errorText, type RpcError } from "../jsonrpc.ts";
import { withoutDump } from "../params.ts";

/** A JSON-RPC error as an HTTP response. @param version the protocol revision in force, if one is. */
export function rpcResponse(
  status: number,
  error: RpcError,
  id?: RequestId,
  version?: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(errorText(id, error, version), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** The SDK's response with its validator's dump taken out of an error; see `withoutDump`. */
export async function withoutDumps(response: Response): Promise<Response> {
  if (response.body === null || !response.headers.get("content-type")?.startsWith("application/json"))
    return response;
  const text = await response.text();
  const { status, headers } = response;
  if (!text.includes('"error"')) return new Response(text, { status, headers });
  const message: unknown = JSON.parse(text);
  if (!isErrorMessage(message)) return new Response(text, { status, headers });
  return new Response(JSON.stringify({ ...message, error: withoutDump(message.error) }), { status, headers });
}

function isErrorMessage(value: unknown): value is { error: RpcError } {
  return (
    typeof value === "object" &&
    value !== null &&
    "error" in value &&
    typeof value.error === "object" &&
    value.error !== null &&
    "code" in value.error &&
    "message" in value.error &&
    typeof value.error.message === "string"
  );
}
