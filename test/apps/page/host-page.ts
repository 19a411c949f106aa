// The host's side of a page with a view: ext-apps' own bridge, as hosts use it. Bundled for the browser by host.ts.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

interface PageLook {
  readonly theme: "light" | "dark";
  readonly width: number;
  readonly downloads?: boolean;
}

declare global {
  interface Window {
    /** Passes a request of the view to the test. */
    fromView(method: string, params: unknown): Promise<object>;
    showView(html: string, look: PageLook, args: object, result: object): Promise<void>;
  }
}

window.showView = async (html, { theme, width, downloads = false }, args, result) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width:${width}px;height:0;border:0`;
  document.body.replaceChildren(frame);
  document.documentElement.style.cssText = `color-scheme:${theme};background:${theme === "dark" ? "#181818" : "#fff"}`;
  const target = frame.contentWindow;
  if (target === null) throw new Error("no frame");
  const capabilities = {
    serverTools: {},
    serverResources: {},
    updateModelContext: { text: {} },
    ...(downloads ? { downloadFile: {} } : {}),
  };
  const bridge = new AppBridge(null, { name: "test-host", version: "1" }, capabilities, {
    hostContext: {
      theme,
      displayMode: "inline",
      availableDisplayModes: ["inline", "fullscreen"],
    },
  });
  bridge.oncalltool = async (params) => (await window.fromView("tools/call", params)) as never;
  bridge.onreadresource = async (params) =>
    (await window.fromView("resources/read", params)) as never;
  bridge.onupdatemodelcontext = async (params) =>
    (await window.fromView("ui/update-model-context", params)) as never;
  bridge.ondownloadfile = async (params) =>
    (await window.fromView("ui/download-file", params)) as never;
  bridge.onrequestdisplaymode = async ({ mode }) => {
    await window.fromView("ui/request-display-mode", { mode });
    const isFull = mode === "fullscreen";
    frame.style.cssText = isFull
      ? "position:fixed;inset:0;width:100%;height:100%;border:0"
      : `width:${width}px;border:0`;
    frame.dataset.display = mode;
    return { mode };
  };
  bridge.onsizechange = ({ height }) => {
    if (frame.dataset.display !== "fullscreen") frame.style.height = `${height ?? 0}px`;
    frame.dataset.sized = "";
  };
  const opened = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(new PostMessageTransport(target, target));
  frame.srcdoc = html;
  await opened;
  await bridge.sendToolInput({ arguments: args as Record<string, unknown> });
  await bridge.sendToolResult(result as never);
};
