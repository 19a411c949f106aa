import type { Revision } from "../protocol/revisions.ts";

/** What a host writes first to a server, line by line, as it is publicly documented. */
export interface RecordedHost {
  /** The host and its version. */
  readonly host: string;
  /** Where the lines stand. */
  readonly sources: readonly string[];
  readonly revision: Revision;
  /** The lines as they are on the wire; after the first one the host waits for the answer. */
  readonly opening: readonly [string, ...string[]];
  /** `_meta` of a tool call, where the host sends one. */
  readonly callMeta?: Readonly<Record<string, unknown>>;
}

const INITIALIZED = '{"method":"notifications/initialized","jsonrpc":"2.0"}';
const CLAUDE_ANYWAY = "https://github.com/anthropics/claude-code/issues/9012";
const COMMONMEASURE =
  "https://github.com/commonmeasure/commonmeasure/blob/main/docs/knowledge-base/host-surfaces.md";
const COMMONMEASURE_2 =
  "https://github.com/commonmeasure/commonmeasure/blob/main/docs/knowledge-base/host-surfaces-2.md";

/**
 * The hosts of six makers, older versions beside the latest where they differ on the wire. Every `initialize` is what a
 * source shows; a request of which a source only says that it follows is written as that client writes its others.
 */
export const RECORDED: readonly RecordedHost[] = [
  {
    host: "Claude Desktop, March 2025",
    sources: ["https://github.com/modelcontextprotocol/typescript-sdk/issues/179", CLAUDE_ANYWAY],
    revision: "2024-11-05",
    // It asks for resources and prompts whether the server has them or not.
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"resources/list","params":{},"jsonrpc":"2.0","id":1}',
      '{"method":"tools/list","params":{},"jsonrpc":"2.0","id":2}',
      '{"method":"prompts/list","params":{},"jsonrpc":"2.0","id":3}',
    ],
  },
  {
    host: "Claude Desktop, July 2025",
    sources: ["https://github.com/0x4m4/hexstrike-ai/issues/11", CLAUDE_ANYWAY],
    revision: "2025-06-18",
    // It asks for the tools twice at once.
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"tools/list","params":{},"jsonrpc":"2.0","id":1}',
      '{"method":"tools/list","params":{},"jsonrpc":"2.0","id":2}',
      '{"method":"resources/list","params":{},"jsonrpc":"2.0","id":3}',
      '{"method":"prompts/list","params":{},"jsonrpc":"2.0","id":4}',
    ],
  },
  {
    host: "Claude Desktop, June 2026",
    sources: ["https://github.com/williamkapke/kapture/issues/17", COMMONMEASURE],
    revision: "2025-11-25",
    // `extensions` is no capability of this revision's schema.
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},"clientInfo":{"name":"claude-ai","version":"0.1.0"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"tools/list","params":{},"jsonrpc":"2.0","id":1}',
    ],
  },
  {
    host: "Claude Code 2.0.73",
    sources: ["https://github.com/cl-ai-project/cl-mcp/issues/26", CLAUDE_ANYWAY],
    revision: "2025-11-25",
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"claude-code","version":"2.0.73"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"tools/list","jsonrpc":"2.0","id":1}',
      '{"method":"prompts/list","jsonrpc":"2.0","id":2}',
      '{"method":"resources/list","jsonrpc":"2.0","id":3}',
    ],
    callMeta: { "claudecode/toolUseId": "toolu_015VxWcCwyMXRJgq2zN1aBcD", progressToken: 2 },
  },
  {
    host: "VS Code 1.100",
    sources: ["https://github.com/microsoft/vscode/issues/246874"],
    revision: "2025-03-26",
    opening: [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"Visual Studio Code - Insiders","version":"1.100.0-insider"}}}',
      INITIALIZED,
      '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}',
    ],
  },
  {
    host: "VS Code 1.138",
    sources: [
      "https://github.com/microsoft/vscode/issues/291432",
      "https://github.com/microsoft/vscode/blob/main/src/vs/workbench/contrib/mcp/common/mcpServerRequestHandler.ts",
    ],
    revision: "2025-11-25",
    opening: [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}},"clientInfo":{"name":"Visual Studio Code","version":"1.138.0"}}}',
      INITIALIZED,
      '{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{}}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}',
    ],
    callMeta: { progressToken: "0d3f3c43-6a1b-4f5e-9a53-3f2a2f8a5f10" },
  },
  {
    host: "Cursor, early 2025",
    sources: [
      "https://github.com/Cocoanetics/SwiftMCP/blob/main/Tests/SwiftMCPTests/JSONRPCRequestTest.swift",
    ],
    revision: "2024-11-05",
    // Capabilities that no client has, and booleans where the schema has objects.
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"tools":true,"prompts":false,"resources":true,"logging":false,"roots":{"listChanged":false}},"clientInfo":{"name":"cursor-vscode","version":"1.0.0"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"tools/list","jsonrpc":"2.0","id":1}',
    ],
  },
  {
    host: "Cursor 3.20",
    sources: ["https://github.com/VitaSound/fmcp/blob/main/tests/smoke_test.sh", COMMONMEASURE],
    revision: "2025-11-25",
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":false}},"clientInfo":{"name":"cursor-vscode","version":"1.0.0"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"resources/list","jsonrpc":"2.0","id":1}',
      '{"method":"tools/list","jsonrpc":"2.0","id":2}',
      '{"method":"prompts/list","jsonrpc":"2.0","id":4}',
    ],
  },
  {
    host: "Codex 0.158",
    sources: [
      "https://github.com/OldJobobo/splinterm/pull/84",
      "https://github.com/openai/codex/pull/20562",
      "https://github.com/openai/codex/pull/43428",
    ],
    revision: "2025-06-18",
    // The forms of elicitation belong to 2025-11-25; a list asks for progress.
    opening: [
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"codex/auth-change":{}},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"codex-mcp-client","title":"Codex","version":"0.158.0"}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}',
    ],
    callMeta: { progressToken: 1, callId: "call-1" },
  },
  {
    host: "Gemini CLI 0.59",
    sources: [COMMONMEASURE_2, "https://geminicli.com/docs/tools/mcp-server"],
    revision: "2025-06-18",
    opening: [
      '{"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"gemini-cli-mcp-client","version":"0.59.0"}},"jsonrpc":"2.0","id":0}',
      INITIALIZED,
      '{"method":"tools/list","jsonrpc":"2.0","id":1}',
    ],
  },
];
