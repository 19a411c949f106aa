import type { RequestId } from "@modelcontextprotocol/server";
import { errorText, type RpcError } from "../jsonrpc.ts";

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
