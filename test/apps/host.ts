import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { type ConnectOptions, connectStdio } from "@refmcp/testing";
import { build } from "esbuild";
import { type Browser, chromium, type FrameLocator, type Page } from "playwright";
import { afterAll, beforeAll, expect } from "vitest";
import { ensureBrowser } from "../../servers/playwright/test/browser.mjs";

/** Only what hangs takes this long, in milliseconds; Playwright's own limit is 30 seconds. */
const HANGS_MS = 600_000;

/** The extensions of a client that shows views. */
export const APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

/** A text that would run and load something if a view treated it as markup. */
export const HOSTILE = `<img src="http://127.0.0.1:9/x.png" onerror="document.title='owned'"><script>document.title='owned'</script>`;

/** Checks that a view shows the hostile text as text, and that it ran and loaded nothing. */
export async function expectHarmless({ view, loaded }: ShownView): Promise<void> {
  expect(await view.locator("body").textContent()).toContain("onerror=");
  expect(await view.locator("script").count()).toBe(0);
  expect(await view.locator("img:not([src^='data:'])").count()).toBe(0);
  expect(await view.locator(":root").evaluate((root) => root.ownerDocument.title)).not.toBe(
    "owned",
  );
  expect(loaded).toEqual([]);
}

/** A client of a built server, as a host with views and without forms. */
export async function connectApps(
  bin: string,
  args: readonly string[],
  options: Pick<ConnectOptions, "env" | "extensions"> = {},
): Promise<Client> {
  const { client } = await connectStdio(bin, { era: "legacy", args, extensions: APPS, ...options });
  return client;
}

/** How a host shows a view. */
export interface Look {
  readonly theme?: "light" | "dark";
  /** Pixels of the frame. */
  readonly width?: number;
  /** Whether the host saves files for views. */
  readonly downloads?: boolean;
}

/** A view in its host, with its requests to the host. */
export interface ShownView {
  readonly view: FrameLocator;
  readonly page: Page;
  /** The methods and parameters of the view's requests. */
  readonly asked: { readonly method: string; readonly params: Record<string, unknown> }[];
  /** What the page loaded, except the host page itself. */
  readonly loaded: string[];
}

/** Shows views in a real browser, in a frame as hosts do. */
export function useViews(): (
  client: Client,
  call: { name: string; arguments: Record<string, unknown> },
  result: object,
  look?: Look | "light" | "dark",
) => Promise<ShownView> {
  let browser: Browser | undefined;
  let script = "";
  beforeAll(async () => {
    const { executablePath } = await ensureBrowser();
    browser = await chromium.launch({
      executablePath,
      chromiumSandbox: false,
      timeout: HANGS_MS,
    });
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL("page/host-page.ts", import.meta.url))],
      bundle: true,
      write: false,
      format: "iife",
      logLevel: "warning",
    });
    script = outputFiles[0]?.text ?? "";
  });
  afterAll(() => browser?.close());
  return async (client, call, result, options = "light") => {
    if (browser === undefined) throw new Error("The browser has not been started.");
    const look: Look = typeof options === "string" ? { theme: options } : options;
    const { theme = "light", width = 640 } = look;
    const page = await browser.newPage({
      viewport: { width: width + 60, height: 600 },
      colorScheme: theme,
    });
    page.setDefaultTimeout(HANGS_MS);
    const asked: ShownView["asked"] = [];
    const loaded: string[] = [];
    page.on(
      "request",
      (request) => void (request.url().startsWith("data:") || loaded.push(request.url())),
    );
    await page.exposeFunction(
      "fromView",
      async (method: string, params: Record<string, unknown>) => {
        asked.push({ method, params });
        if (method === "tools/call") return client.callTool(params as never);
        if (method === "resources/read") return client.readResource(params as never);
        return {};
      },
    );
    await page.addScriptTag({ content: script });
    const { tools } = await client.listTools();
    const { ui }: { ui?: { resourceUri: string } } = Object(
      tools.find(({ name }) => name === call.name)?._meta,
    );
    if (ui === undefined) throw new Error(`${call.name} has no view`);
    const { contents } = await client.readResource({ uri: ui.resourceUri });
    const [html] = contents;
    if (html === undefined || !("text" in html)) throw new Error(`${ui.resourceUri} is not a page`);
    const viewArgs = [html.text, { ...look, theme, width }, call.arguments, result].map((value) =>
      JSON.stringify(value),
    );
    await page.evaluate(`showView(${viewArgs.join(", ")})`);
    return { view: page.frameLocator("iframe"), page, asked, loaded };
  };
}
