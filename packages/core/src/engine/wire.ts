import type { JsonText } from "@refmcp/boundary/answer";
import type {
  ContentBlock,
  Icon,
  Meta,
  PromptMessage,
  ResourceContents,
  ToolAnnotations,
} from "../define/content.ts";
import type { ToolSchemas } from "../define/tool.ts";

/** The messages of MCP on the wire; `wire.test.ts` compares them with the official SDK's types. */

/** A string, or an integer within ±(2^53 - 1). */
export type RequestId = string | number;

/**
 * The group of revisions of a request. `legacy`: opened by a handshake, and the server may send requests. `modern`: every
 * request is independent.
 */
export type Era = "legacy" | "modern";

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type Params = Readonly<Record<string, unknown>> & { readonly _meta?: Readonly<Meta> };

export interface RequestMessage {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Params;
}

export interface NotificationMessage {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Params;
}

export type ResponseMessage =
  | {
      readonly jsonrpc: "2.0";
      readonly id: RequestId;
      readonly result: Readonly<Record<string, unknown>>;
    }
  | { readonly jsonrpc: "2.0"; readonly id: RequestId; readonly error: RpcError };

/** JSON-RPC 2.0 (section 5.1) and MCP error codes. */
export const CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** A refusal by the transport; the same code as in the SDKs. */
  sessionNotFound: -32_001,
  headerMismatch: -32_020,
  missingClientCapability: -32_021,
  unsupportedVersion: -32_022,
} as const;

/** Tasks of 2026-07-28 (SEP-2663). Those of 2025-11-25 are a part of that revision. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Keys of `_meta` that the protocol defines. */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

export interface Implementation {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  readonly icons?: Icon[];
}

export interface ClientCapabilities {
  readonly roots?: { readonly listChanged?: boolean };
  readonly sampling?: { readonly tools?: object; readonly context?: object };
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  readonly extensions?: Readonly<Record<string, object>>;
}

export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean };
  readonly logging?: object;
  readonly prompts?: { readonly listChanged?: boolean };
  readonly resources?: { readonly listChanged?: boolean; readonly subscribe?: boolean };
  readonly completions?: object;
  readonly tasks?: object;
  readonly extensions?: Record<string, Record<string, unknown>>;
}

export interface ListedTool extends ToolSchemas {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  execution?: { taskSupport: "optional" };
  _meta?: Meta;
}

export interface CallToolResult {
  content: ContentBlock[];
  structuredContent?: Record<string, unknown> | JsonText;
  isError?: boolean;
  _meta?: Meta;
}

export interface GetPromptResult {
  description: string;
  messages: PromptMessage[];
}

export interface ReadResourceResult {
  contents: ResourceContents[];
}

/** A question to the client: a request in the legacy era, part of a result in the modern one. */
export type InputRequest =
  | { readonly method: "elicitation/create"; readonly params: Readonly<Record<string, unknown>> }
  | { readonly method: "sampling/createMessage"; readonly params: object }
  | { readonly method: "roots/list" };
