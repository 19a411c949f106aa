import { ForwardProxy, type NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright";
import type { Device } from "../devices.ts";
import type { Launched } from "../driver/launch.ts";
import { browserGone } from "../errors.ts";
import { CLOCK_SCRIPT } from "./settle.ts";

/** One run's browser context: its page, its proxy, and nothing from other runs. */
export interface TestContext {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly proxy: ForwardProxy;
  /**
   * Closes it, waiting at most five seconds, or `withinMs` if that is longer; a browser that takes longer gets no further
   * runs.
   */
  close(withinMs?: number): Promise<void>;
}

export interface ContextsOptions {
  readonly launch: () => Promise<Launched>;
  readonly ignoreHttpsErrors: boolean;
  /** Called if further runs need another browser: this one did not start, has ended, or hangs. */
  readonly unfit?: () => void;
  readonly closeMs?: number;
}

/**
 * For a browser on another machine, which cannot use a proxy here: every request is checked before it is sent.
 * Redirects and that machine's own names cannot be checked, so its operator must restrict its network.
 */
async function guardFrom(context: BrowserContext, guard: NetworkGuard): Promise<void> {
  const isAllowed = (text: string) =>
    guard.check(new URL(text.replace(/^ws/, "http"))).then(
      () => true,
      () => false,
    );
  await context.route("**/*", async (route) =>
    (await isAllowed(route.request().url())) ? route.continue() : route.abort("blockedbyclient"),
  );
  await context.routeWebSocket("**/*", async (socket) => {
    if (await isAllowed(socket.url())) socket.connectToServer();
    else await socket.close();
  });
}

/** Creates contexts in this process's only browser. */
export class Contexts {
  readonly #options: Required<ContextsOptions>;
  #launched: Promise<Launched> | undefined;

  constructor(options: ContextsOptions) {
    this.#options = { closeMs: 5_000, unfit: () => undefined, ...options };
  }

  /** @throws ToolError `unavailable` if no browser starts. */
  browser(): Promise<Launched> {
    const { launch, unfit } = this.#options;
    if (this.#launched === undefined) {
      this.#launched = launch();
      this.#launched.then(({ browser }) => browser.on("disconnected", unfit)).catch(unfit);
    }
    return this.#launched;
  }

  /** @throws ToolError `unavailable` if no browser starts, or it ends. */
  async open(
    device: Device,
    guard: NetworkGuard,
    recording: Pick<BrowserContextOptions, "recordHar" | "acceptDownloads"> = {},
  ): Promise<TestContext> {
    const launched = await this.browser();
    const proxy = await ForwardProxy.listen(guard);
    try {
      const options = { ...device.options, ...recording };
      const context = await this.#make(launched, options, proxy);
      const page = await context.newPage();
      const close = (withinMs?: number) => this.#close(context, proxy, withinMs);
      return { context, page, proxy, close };
    } catch (error) {
      await proxy.close();
      const isGone = error instanceof Error && error.message.includes("has been closed");
      throw isGone ? browserGone(error) : error;
    }
  }

  async close(): Promise<void> {
    const launched = await this.#launched?.catch(() => undefined);
    await launched?.browser.close();
  }

  async #make(
    { browser, local }: Launched,
    options: BrowserContextOptions,
    proxy: ForwardProxy,
  ): Promise<BrowserContext> {
    // Only for Chromium do tests show that nothing bypasses the proxy.
    const isProxied = local && browser.browserType().name() === "chromium";
    // Loopback addresses use the proxy too, which Chromium would leave out.
    const server = { server: `http://127.0.0.1:${proxy.port}`, bypass: "<-loopback>" };
    const context = await browser.newContext({
      ...options,
      ignoreHTTPSErrors: this.#options.ignoreHttpsErrors,
      ...(local ? { proxy: server } : {}),
      ...(isProxied ? {} : { serviceWorkers: "block" }),
    });
    if (!isProxied) await guardFrom(context, proxy.guard);
    await context.addInitScript(CLOCK_SCRIPT);
    return context;
  }

  async #close(context: BrowserContext, proxy: ForwardProxy, withinMs = 0): Promise<void> {
    const ended = context.close().then(
      () => true,
      () => context.browser()?.isConnected() !== true,
    );
    const late = new Promise<boolean>((resolve) =>
      setTimeout(resolve, Math.max(this.#options.closeMs, withinMs), false).unref(),
    );
    const isEnded = await Promise.race([ended, late]);
    await proxy.close();
    if (!isEnded) this.#options.unfit();
  }
}
