/**
 * The protocol types that authors use: content blocks, messages, annotations (MCP schema). `engine/wire.test.ts`
 * compares them with the official SDK's types.
 */

/** Arbitrary metadata that clients and servers attach to a message. */
export type Meta = Record<string, unknown>;

export type Role = "user" | "assistant";

/** Hints for clients: who a block is for, and how important it is. */
export interface Annotations {
  audience?: Role[] | undefined;
  /** 0 to 1. */
  priority?: number | undefined;
  /** ISO 8601. */
  lastModified?: string | undefined;
}

export interface Icon {
  /** A URL or a data URI. */
  src: string;
  mimeType?: string | undefined;
  /** Each `48x48`, or `any`. */
  sizes?: string[] | undefined;
  theme?: "light" | "dark" | undefined;
}

interface BlockFacts {
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

export interface TextContent extends BlockFacts {
  type: "text";
  text: string;
}

interface MediaContent extends BlockFacts {
  /** Base64. */
  data: string;
  mimeType: string;
}
export type ImageContent = MediaContent & { type: "image" };
export type AudioContent = MediaContent & { type: "audio" };

export interface ResourceLink extends BlockFacts {
  type: "resource_link";
  uri: string;
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
  /** Bytes. */
  size?: number | undefined;
  icons?: Icon[] | undefined;
}

/** The content of a resource: text or base64. */
export type ResourceContents = {
  uri: string;
  mimeType?: string | undefined;
  _meta?: Meta | undefined;
} & ({ text: string } | { blob: string });

export interface EmbeddedResource extends BlockFacts {
  type: "resource";
  resource: ResourceContents;
}

export type ContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceLink
  | EmbeddedResource;

export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

/** Hints that hosts show, and use to decide which calls need approval. */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/** The levels of MCP log messages, from most to least verbose (RFC 5424). */
export const LOGGING_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type LoggingLevel = (typeof LOGGING_LEVELS)[number];

export interface SamplingMessage {
  role: Role;
  content: SamplingContent | SamplingContent[];
  _meta?: Meta | undefined;
}
type SamplingContent = TextContent | ImageContent | AudioContent;

/** The parameters of a sampling request (MCP `sampling/createMessage`). */
export interface SampleRequest {
  messages: SamplingMessage[];
  maxTokens: number;
  systemPrompt?: string | undefined;
}

export interface SampleResult extends SamplingMessage {
  model: string;
  stopReason?: string | undefined;
}

export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return LOGGING_LEVELS.some((level) => level === value);
}
