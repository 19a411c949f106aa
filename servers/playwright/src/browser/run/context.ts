import { ForwardProxy, type NetworkGuard } from "@refmcp/core/forward-proxy";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright";
import type { BrowserPool, Lease } from "../launch/browser-pool.ts";
import type { Launched } from "../launch/launch.ts";
import { DEFAULT_VIEWPORT, type Device } from "./devices.ts";

/** A browser context of one run: its page, its proxy, and nothing that another run left. */
export interface TestContext {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly proxy: ForwardProxy;
  /** Ends it; one that takes more than two seconds is not waited for, and its browser gets no further run. */
  close(): Promise<void>;
}

export interface TestContextOptions {
  readonly device: Device;
  readonly guard: NetworkGuard;
  readonly recording: Pick<BrowserContextOptions, "recordHar" | "recordVideo"> | undefined;
}

export interface ContextPoolOptions {
  readonly ignoreHttpsErrors: boolean;
  /** How long a context may take to end before its browser is replaced. */
  readonly closeMs?: number;
}

interface Ready {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly proxy: ForwardProxy;
}

interface Spare {
  readonly browser: Browser;
  /** Never settles where the browser was killed while the page was made. */
  readonly ready: Promise<Ready>;
}

const CLOSED: NetworkGuard = {
  connect: () => Promise.reject(new Error("no run uses this context yet")),
  isRefusal: () => true,
  check: () => Promise.reject(new Error("no run uses this context yet")),
};

/** `<-loopback>`: loopback addresses use the proxy too, which Chromium would leave out. */
const proxySettings = ({ port }: ForwardProxy) => ({
  server: `http://127.0.0.1:${port}`,
  bypass: "<-loopback>",
});

/**
 * For a browser on another machine, which cannot use a proxy here: every request is looked at before it is sent.
 * Redirects and the other machine's own names are out of sight, so its network has to be closed by its operator.
 */
async function guardFrom(context: BrowserContext, proxy: ForwardProxy): Promise<void> {
  const isAllowed = (text: string) =>
    proxy.guard.check(new URL(text.replace(/^ws/, "http"))).then(
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

/** Contexts of the default device that stand ready: a driver has one run at a time. */
const SPARES = 1;

/** Makes contexts, and keeps some ready for the next runs of the default device. */
export class ContextPool {
  readonly #browserPool: BrowserPool;
  readonly #options: Required<ContextPoolOptions>;
  readonly #spares: Spare[] = [];

  constructor(browserPool: BrowserPool, options: ContextPoolOptions) {
    this.#browserPool = browserPool;
    this.#options = { closeMs: 2_000, ...options };
    browserPool.beforeClose(async (browser) => {
      for (const spare of this.#spares.splice(0)) {
        if (spare.browser !== browser) this.#spares.push(spare);
        else await spare.ready.then(({ proxy }) => proxy.close()).catch(() => undefined);
      }
    });
  }

  /** Starts the browser and a context, so that the first run finds them; failures show when a run needs them. */
  async prewarm(): Promise<void> {
    const lease = await this.#browserPool.lease();
    try {
      this.#refill(lease.launched);
      await this.#spares[0]?.ready;
    } finally {
      await lease.release();
    }
  }

  /** @throws ToolError `unavailable` where no browser starts. */
  async open({ device, guard, recording }: TestContextOptions): Promise<TestContext> {
    const lease = await this.#browserPool.lease();
    try {
      const { browser } = lease.launched;
      const usesSpare = device.isDefault && recording === undefined;
      const spare = usesSpare ? await this.#takeSpare(browser) : undefined;
      const ready = spare ?? (await this.#make(lease.launched, { ...device.options, ...recording }));
      ready.proxy.guard = guard;
      return {
        ...ready,
        close: () => this.#close(ready, lease),
      };
    } catch (error) {
      await lease.release(!lease.launched.browser.isConnected());
      throw error;
    }
  }

  async #takeSpare(browser: Browser): Promise<Ready | undefined> {
    for (let spare = this.#spares.shift(); spare !== undefined; spare = this.#spares.shift()) {
      const { ready } = spare;
      const found = spare.browser === browser ? await ready.catch(() => undefined) : undefined;
      if (found?.page.isClosed() === false) return found;
      ready.then(({ proxy }) => proxy.close()).catch(() => undefined);
    }
    return undefined;
  }

  /** Makes spares until there are enough. */
  #refill(launched: Launched): void {
    while (this.#spares.length < SPARES) {
      const ready = this.#make(launched, { viewport: DEFAULT_VIEWPORT });
      const spare = { browser: launched.browser, ready };
      ready.catch(() => {
        const at = this.#spares.indexOf(spare);
        if (at >= 0) this.#spares.splice(at, 1);
      });
      this.#spares.push(spare);
    }
  }

  async #make({ browser, local }: Launched, options: BrowserContextOptions): Promise<Ready> {
    const proxy = await ForwardProxy.listen(CLOSED);
    // Only of Chromium it is tested that nothing bypasses the proxy.
    const isProxied = local && browser.browserType().name() === "chromium";
    try {
      const context = await browser.newContext({
        ...options,
        ignoreHTTPSErrors: this.#options.ignoreHttpsErrors,
        ...(local ? { proxy: proxySettings(proxy) } : {}),
        ...(isProxied ? {} : { serviceWorkers: "block" }),
      });
      if (!isProxied) await guardFrom(context, proxy);
      return { browser, context, page: await context.newPage(), proxy };
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  async #close(ready: Ready, lease: Lease): Promise<void> {
    const ended = ready.context.close().then(
      () => true,
      () => !ready.browser.isConnected(),
    );
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, this.#options.closeMs, false).unref());
    const fine = await Promise.race([ended, late]);
    await ready.proxy.close();
    if (fine && ready.browser.isConnected()) this.#refill(lease.launched);
    await lease.release(!fine);
  }
}
