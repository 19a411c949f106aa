import { errorText } from "../../protocol/errors.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { CODES, type RequestId, type RpcError } from "../../protocol/wire.ts";

/** A whole HTTP response. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A JSON document as an HTTP response. */
export function jsonAnswer(status: number, value: unknown, headers: Answer["headers"] = {}): Answer {
  return textAnswer(status, JSON.stringify(value), headers);
}

/** @param json JSON text. */
export function textAnswer(status: number, json: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: json };
}

/** A JSON-RPC error as an HTTP response. @param revision the one in force, if one is. */
export function rpcAnswer(
  status: number,
  error: RpcError,
  {
    id,
    revision,
    headers,
  }: { id?: RequestId; revision?: Revision | undefined; headers?: Answer["headers"] } = {},
): Answer {
  return textAnswer(status, errorText(id, error, revision), headers);
}

/** A refusal of the transport. */
export function refuse(status: number, message: string, headers: Answer["headers"] = {}): Answer {
  return rpcAnswer(status, { code: CODES.refused, message }, { headers });
}
