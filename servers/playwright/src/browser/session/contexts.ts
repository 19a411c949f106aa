import { ForwardProxy, type NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright";
import type { Launched } from "../driver/launch.ts";
import { browserGone } from "../errors.ts";
import { DEFAULT_VIEWPORT, type Device } from "./devices.ts";
import { RECORD_TIMERS } from "./timers.ts";

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

type Ready = Omit<TestContext, "close">;

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
 * For a browser on another machine, which cannot use a proxy here: every request is checked before it is sent.
 * Redirects and that machine's own names cannot be checked, so its operator must restrict its network.
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

/**
 * The result of `work`.
 *
 * @throws ToolError `unavailable` if the browser ends first; Playwright sometimes leaves the promise of `work` pending then.
 */
async function unlessEnded<Result>(browser: Browser, work: Promise<Result>): Promise<Result> {
  let end = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(browserGone(undefined));
  });
  browser.once("disconnected", end);
  try {
    return await Promise.race([work, ended]);
  } catch (error) {
    // Playwright can report this before it reports the end.
    throw error instanceof Error && error.message.includes("has been closed")
      ? browserGone(error)
      : error;
  } finally {
    browser.off("disconnected", end);
  }
}

/**
 * Lets the page's process compile Playwright's scripts, in both of the worlds in which they run. It keeps the result for
 * the next document, whose first check then takes half the time.
 */
async function warmUp(page: Page): Promise<void> {
  await Promise.all([page.evaluate("0"), page.locator("body").count()]);
}

/** Creates contexts in this process's only browser, and keeps one ready for the next run of the default device. */
export class Contexts {
  readonly #options: Required<ContextsOptions>;
  #launched: Promise<Launched> | undefined;
  #spare: Promise<Ready> | undefined;

  constructor(options: ContextsOptions) {
    this.#options = { closeMs: 5_000, unfit: () => undefined, ...options };
  }

  browser(): Promise<Launched> {
    this.#launched ??= this.#launch();
    return this.#launched;
  }

  async #launch(): Promise<Launched> {
    const { launch, unfit } = this.#options;
    try {
      const launched = await launch();
      launched.browser.on("disconnected", unfit);
      return launched;
    } catch (error) {
      unfit();
      throw error;
    }
  }

  /** Starts the browser and a context for the first run; a failure is reported when a run needs them. */
  async prewarm(): Promise<void> {
    this.#refill(await this.browser());
    await this.#spare;
  }

  /** @throws ToolError `unavailable` if no browser starts. */
  async open(
    device: Device,
    guard: NetworkGuard,
    recording?: Pick<BrowserContextOptions, "recordHar" | "recordVideo">,
  ): Promise<TestContext> {
    const launched = await this.browser();
    const usesSpare = device.isDefault && recording === undefined;
    const spare = usesSpare ? await this.#takeSpare() : undefined;
    const ready = spare ?? (await this.#make(launched, { ...device.options, ...recording }));
    ready.proxy.guard = guard;
    return { ...ready, close: (withinMs) => this.#close(ready, launched, withinMs) };
  }

  async close(): Promise<void> {
    const launched = await this.#launched?.catch(() => undefined);
    await launched?.browser.close();
    await this.#spare?.then(({ proxy }) => proxy.close()).catch(() => undefined);
  }

  /** The context that was kept ready, if its page still responds: the system may have killed its process. */
  async #takeSpare(): Promise<Ready | undefined> {
    const taken = this.#spare;
    this.#spare = undefined;
    const found = await taken?.catch(() => undefined);
    // Not its title, which Playwright has of a dead page, too.
    const isAlive = await found?.page.evaluate("0").then(
      () => true,
      () => false,
    );
    if (isAlive !== false) return found;
    void found?.context.close().catch(() => undefined);
    await found?.proxy.close();
    return undefined;
  }

  #refill(launched: Launched): void {
    if (this.#spare !== undefined) return;
    this.#spare = this.#make(launched, { viewport: DEFAULT_VIEWPORT });
    // A run that needs one creates its own.
    this.#spare.then(({ page }) => warmUp(page)).catch(() => undefined);
  }

  async #make({ browser, local }: Launched, options: BrowserContextOptions): Promise<Ready> {
    const proxy = await ForwardProxy.listen(CLOSED);
    // Only for Chromium do tests show that nothing bypasses the proxy.
    const isProxied = local && browser.browserType().name() === "chromium";
    const made = async () => {
      const context = await browser.newContext({
        ...options,
        ignoreHTTPSErrors: this.#options.ignoreHttpsErrors,
        ...(local ? { proxy: proxySettings(proxy) } : {}),
        ...(isProxied ? {} : { serviceWorkers: "block" }),
      });
      if (!isProxied) await guardFrom(context, proxy);
      await context.addInitScript(RECORD_TIMERS);
      return { context, page: await context.newPage(), proxy };
    };
    try {
      return await unlessEnded(browser, made());
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  async #close({ context, proxy }: Ready, launched: Launched, withinMs = 0): Promise<void> {
    const ended = context.close().then(
      () => true,
      () => !launched.browser.isConnected(),
    );
    const late = new Promise<boolean>((resolve) =>
      setTimeout(resolve, Math.max(this.#options.closeMs, withinMs), false).unref(),
    );
    const isEnded = await Promise.race([ended, late]);
    await proxy.close();
    if (!isEnded) this.#options.unfit();
    else if (launched.browser.isConnected()) this.#refill(launched);
  }
}
