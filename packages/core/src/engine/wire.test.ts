import type * as sdk from "@modelcontextprotocol/server";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { expect, it } from "vitest";
import type * as content from "../define/content.ts";
import { LOGGING_LEVELS } from "../define/content.ts";
import type { ListedPrompt } from "../define/prompt.ts";
import type { ListedResource } from "../define/resource.ts";
import { LEGACY_VERSIONS, MODERN_VERSIONS } from "./revision.ts";
import type * as wire from "./wire.ts";
import { CODES, META } from "./wire.ts";

/** Fails to compile if a value of one type is not assignable to the other. */
function fits<To, _From extends To>(): void {}

/** A type after JSON serialization: a member is present or absent, never undefined. */
type Parsed<Value> = Value extends object
  ? { [Key in keyof Value]: Parsed<Exclude<Value[Key], undefined>> }
  : Value;
/** An interface as a type that allows other members. */
type Loose<Value> = { [Key in keyof Value]: Value[Key] };

it("matches the official SDK's types, both for what we send and for what we receive", () => {
  // Sent by servers.
  fits<sdk.ContentBlock, content.ContentBlock>();
  fits<sdk.PromptMessage, content.PromptMessage>();
  fits<sdk.Annotations, content.Annotations>();
  fits<sdk.ToolAnnotations, content.ToolAnnotations>();
  fits<sdk.Icon, content.Icon>();
  fits<sdk.LoggingLevel, content.LoggingLevel>();
  fits<content.LoggingLevel, sdk.LoggingLevel>();
  fits<
    Omit<sdk.CreateMessageRequest["params"], "metadata">,
    Omit<content.SampleRequest, "metadata">
  >();
  fits<sdk.Implementation, wire.Implementation>();
  fits<sdk.CallToolResult, Loose<wire.CallToolResult>>();
  fits<sdk.Tool, wire.ListedTool>();
  fits<sdk.Prompt, ListedPrompt>();
  fits<sdk.Resource, ListedResource>();
  fits<sdk.GetPromptResult, Loose<wire.GetPromptResult>>();
  fits<sdk.ReadResourceResult, Loose<wire.ReadResourceResult>>();
  fits<sdk.RequestId, wire.RequestId>();
  // Sent by clients.
  fits<wire.RequestId, sdk.RequestId>();
  fits<keyof sdk.ClientCapabilities, keyof wire.ClientCapabilities>();
  fits<wire.ClientCapabilities["roots"], Parsed<sdk.ClientCapabilities["roots"]>>();
  fits<content.SampleResult, sdk.CreateMessageResult>();
  fits<wire.RequestMessage, Parsed<sdk.JSONRPCRequest>>();
  fits<wire.NotificationMessage, Parsed<sdk.JSONRPCNotification>>();
});

it("agrees with the official SDK's revisions, error codes, levels and keys of _meta", () => {
  expect([...LEGACY_VERSIONS].sort()).toEqual(
    SUPPORTED_PROTOCOL_VERSIONS.filter((version) => !MODERN_VERSIONS.includes(version)).sort(),
  );
  expect(META).toEqual({
    version: PROTOCOL_VERSION_META_KEY,
    clientInfo: CLIENT_INFO_META_KEY,
    capabilities: CLIENT_CAPABILITIES_META_KEY,
    logLevel: LOG_LEVEL_META_KEY,
    serverInfo: SERVER_INFO_META_KEY,
    subscriptionId: SUBSCRIPTION_ID_META_KEY,
    relatedTask: RELATED_TASK_META_KEY,
  });
  expect(CODES).toMatchObject({
    parseError: ProtocolErrorCode.ParseError,
    invalidRequest: ProtocolErrorCode.InvalidRequest,
    methodNotFound: ProtocolErrorCode.MethodNotFound,
    invalidParams: ProtocolErrorCode.InvalidParams,
    internalError: ProtocolErrorCode.InternalError,
    unsupportedVersion: ProtocolErrorCode.UnsupportedProtocolVersion,
    missingClientCapability: ProtocolErrorCode.MissingRequiredClientCapability,
  });
  expect(LOGGING_LEVELS).toHaveLength(8);
});
