import "./view.css";

/** A content block of a tool result: text, an image, a resource or a link to one. */
export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly resource?: ResourceContents;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a resource contains: text or base64. */
export interface ResourceContents {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** A tool result, as passed on by the host. */
export interface ToolResult {
  readonly content?: readonly Block[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** How a host shows a view: among the messages, or on the whole window. */
export type DisplayMode = "inline" | "fullscreen" | "pip";

interface HostContext {
  readonly theme?: "light" | "dark";
  readonly displayMode?: DisplayMode;
  readonly availableDisplayModes?: readonly DisplayMode[];
  readonly styles?: { readonly variables?: Readonly<Record<string, string | undefined>> };
}

interface Initialized {
  readonly hostCapabilities?: {
    readonly updateModelContext?: object;
    readonly message?: object;
    readonly downloadFile?: object;
  };
  readonly hostContext?: HostContext;
}

type Message = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
};

/** A view's connection to the host that shows it: JSON-RPC over postMessage (MCP Apps, 2026-01-26). */
export class Host {
  /** The arguments of the call whose result the view shows. */
  input: Readonly<Record<string, unknown>> = {};
  onResult: (result: ToolResult) => void = () => undefined;
  /** Called when the host shows the view in another mode. */
  onDisplayMode: (mode: DisplayMode) => void = () => undefined;
  /** Called when the host's colors may have changed, for what a style sheet does not reach. */
  onTheme: () => void = () => undefined;
  readonly #waiting = new Map<
    unknown,
    { resolve(value: unknown): void; reject(error: Error): void }
  >();
  #lastId = 0;
  #capabilities: Initialized["hostCapabilities"] = {};
  #context: HostContext = {};

  constructor() {
    addEventListener("message", (event: MessageEvent<Message>) => {
      if (event.source === parent && typeof event.data === "object" && event.data !== null)
        this.#take(event.data);
    });
  }

  /** Connects to the host; set the handlers first. */
  async connect(name: string): Promise<void> {
    const params = {
      appInfo: { name, version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: "2026-01-26",
    };
    const result = await this.request("ui/initialize", params);
    const { hostCapabilities, hostContext } = result as Initialized;
    this.#capabilities = hostCapabilities ?? {};
    this.#apply(hostContext);
    this.#notify("ui/notifications/initialized", {});
    new ResizeObserver(() => this.#reportSize()).observe(document.body);
  }

  /** Whether the host can show views on the whole window. */
  get hasFullscreen(): boolean {
    return this.#context.availableDisplayModes?.includes("fullscreen") === true;
  }

  get displayMode(): DisplayMode {
    return this.#context.displayMode ?? "inline";
  }

  /** Asks the host for another mode; it decides, and {@link onDisplayMode} is called if it changes. */
  async requestDisplayMode(mode: DisplayMode): Promise<void> {
    const result = await this.request("ui/request-display-mode", { mode });
    this.#apply({ displayMode: (result as { mode: DisplayMode }).mode });
  }

  /** Calls a tool of the server that the view belongs to; a call that fails has an error as its result. */
  async callTool(name: string, input: Readonly<Record<string, unknown>>): Promise<ToolResult> {
    try {
      return (await this.request("tools/call", { name, arguments: input })) as ToolResult;
    } catch (error) {
      return { isError: true, content: [{ type: "text", text: (error as Error).message }] };
    }
  }

  /** Reads a resource of the server that the view belongs to. */
  async readResource(uri: string): Promise<readonly ResourceContents[]> {
    return ((await this.request("resources/read", { uri })) as { contents: ResourceContents[] })
      .contents;
  }

  /** Whether the host saves files for views. */
  get hasDownloads(): boolean {
    return this.#capabilities?.downloadFile !== undefined;
  }

  /** Asks the host to save a text as a file. */
  async download(name: string, mimeType: string, text: string): Promise<void> {
    const resource = { uri: `file:///${encodeURIComponent(name)}`, mimeType, text };
    await this.request("ui/download-file", { contents: [{ type: "resource", resource }] });
  }

  /** Tells the model what happened in the view, if the host allows it. */
  async tellModel(text: string): Promise<void> {
    const content = [{ type: "text", text }];
    if (this.#capabilities?.updateModelContext !== undefined)
      await this.request("ui/update-model-context", { content });
    else if (this.#capabilities?.message !== undefined)
      await this.request("ui/message", { role: "user", content });
  }

  request(method: string, params: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #take({ id, method, params = {}, result, error }: Message): void {
    if (method === undefined) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error.message));
      return;
    }
    if (method === "ui/notifications/tool-input")
      this.input = (params.arguments ?? {}) as Record<string, unknown>;
    if (method === "ui/notifications/tool-result") this.onResult(params as ToolResult);
    if (method === "ui/notifications/host-context-changed") this.#apply(params as HostContext);
    if (id !== undefined) this.#send({ id, result: {} });
  }

  /** Takes what the host says about how it shows the view; what it leaves out is unchanged. */
  #apply(context: HostContext = {}): void {
    const before = this.displayMode;
    this.#context = { ...this.#context, ...context };
    applyStyles(context);
    document.documentElement.dataset.display = this.displayMode;
    if (context.theme !== undefined || context.styles !== undefined) this.onTheme();
    if (this.displayMode !== before) this.onDisplayMode(this.displayMode);
  }

  #reportSize(): void {
    // The document is never shorter than the frame, so its height would keep the frame from shrinking.
    const box = document.body.getBoundingClientRect();
    const [width, height] = [Math.ceil(box.width), Math.ceil(box.height)];
    this.#notify("ui/notifications/size-changed", { width, height });
  }

  #notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  #send(message: object): void {
    parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}

/** Applies the host's theme and colors. */
function applyStyles({ theme, styles }: HostContext = {}): void {
  const { style } = document.documentElement;
  if (theme !== undefined) style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (name.startsWith("--") && value !== undefined) style.setProperty(name, value);
}

/** The text of a tool result. */
export function textOf({ content = [] }: ToolResult): string {
  return content.flatMap(({ text }) => text ?? []).join("\n");
}

/** An element with attributes and children; text is never parsed as markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
