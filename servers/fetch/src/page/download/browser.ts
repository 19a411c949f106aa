import { ConcurrencyLimit, startDeadline } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import {
  candidatesOf,
  failUnreadableAnswers,
  guardedLaunch,
  INSTALL,
} from "@refmcp/boundary/browser";
import { ForwardProxy, type NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Browser, BrowserContext } from "playwright-core";

type Playwright = Pick<typeof import("playwright-core"), "chromium">;

interface RendererOptions {
  /** Opens every connection of every page. */
  readonly gate: NetworkGuard;
  /** Milliseconds for one page. */
  readonly totalMs: number;
  /** Characters of one page's HTML. */
  readonly chars: number;
  readonly load?: () => Promise<Playwright>;
}

/** A page rendered by a browser, with its final URL. */
type Rendered = { readonly url: URL; readonly html: string; readonly isCut: boolean };

const PAGES_AT_ONCE = 2;
/** How long a page may continue loading after its document has arrived, in milliseconds. */
const QUIET_MS = 5_000;
const START_MS = 30_000;
/** How long an idle browser is kept, in milliseconds. */
const IDLE_MS = 60_000;

/**
 * Opens pages in a local browser that can only access a proxy in this process, which connects through the gate. Each
 * page has its own context and proxy.
 */
export class Renderer {
  readonly #options: RendererOptions;
  readonly #limit = new ConcurrencyLimit(PAGES_AT_ONCE);
  #browser: Promise<Browser> | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: RendererOptions) {
    this.#options = options;
  }

  /**
   * @throws ToolError `unavailable` without playwright-core, a browser, or a response; `denied` by the gate; `timeout`;
   * the signal's reason.
   */
  async render(address: URL, userAgent: string, signal: AbortSignal): Promise<Rendered> {
    return await this.#limit.run("", signal, async () => {
      const { gate, totalMs } = this.#options;
      clearTimeout(this.#idle);
      const late = () =>
        new ToolError("timeout", `the browser took more than ${totalMs / 1_000} s`);
      const deadline = startDeadline(totalMs, signal, late);
      const ended = new Promise<never>((_, reject) => {
        deadline.signal.addEventListener("abort", () => reject(deadline.signal.reason), {
          once: true,
        });
      });
      const proxy = await ForwardProxy.listen(gate);
      const opened = this.#open(proxy, userAgent);
      try {
        return await Promise.race([
          opened.then((context) => this.#read(context, proxy, address)),
          ended,
        ]);
      } finally {
        deadline.abort();
        ended.catch(() => undefined);
        // Don't wait for a page that hangs.
        opened.then((context) => context.close()).catch(() => undefined);
        await proxy.close();
        this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
      }
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const browser = await this.#browser?.catch(() => undefined);
    this.#browser = undefined;
    await browser?.close().catch(() => undefined);
  }

  async #open({ port }: ForwardProxy, userAgent: string): Promise<BrowserContext> {
    this.#browser ??= this.#start();
    const browser = await this.#browser.catch((error: unknown) => {
      this.#browser = undefined;
      throw error;
    });
    return await browser.newContext({
      userAgent,
      acceptDownloads: false,
      serviceWorkers: "block",
      // `<-loopback>`: loopback addresses also go through the proxy, which Chromium bypasses by default.
      proxy: { server: `http://127.0.0.1:${port}`, bypass: "<-loopback>" },
    });
  }

  async #start(): Promise<Browser> {
    const load = this.#options.load ?? (() => import("playwright-core"));
    const { chromium } = await load().catch((cause: unknown) => {
      throw new ToolError(
        "unavailable",
        "--render needs the package playwright-core, which is not installed",
        {
          hint: "Run npm install playwright-core next to this server.",
          cause,
        },
      );
    });
    failUnreadableAnswers(chromium);
    const { env, platform } = process;
    const reasons: string[] = [];
    const candidates = await candidatesOf({ executablePath: undefined, env, platform, chromium });
    for (const { program, place } of candidates) {
      try {
        const browser = await chromium.launch({
          ...guardedLaunch(env),
          ...program,
          headless: true,
          // Chromium's sandbox does not work for root.
          chromiumSandbox: process.getuid?.() !== 0,
          timeout: START_MS,
        });
        browser.on("disconnected", () => {
          this.#browser = undefined;
        });
        return browser;
      } catch (error) {
        reasons.push(`${place}: ${firstLine(error)}`);
      }
    }
    throw new ToolError("unavailable", "--render found no working browser", {
      hint: `Install one with: ${INSTALL}`,
      code: "no_browser",
      data: { reasons },
    });
  }

  async #read(context: BrowserContext, proxy: ForwardProxy, address: URL): Promise<Rendered> {
    const { chars } = this.#options;
    const page = await context.newPage();
    await page
      .goto(address.href, { waitUntil: "domcontentloaded", timeout: 0 })
      .catch((error: unknown) => {
        const failure = proxy.failures.at(-1);
        throw new ToolError(
          failure?.refused ? "denied" : "unavailable",
          failure?.reason ?? firstLine(error),
        );
      });
    await page.waitForLoadState("networkidle", { timeout: QUIET_MS }).catch(() => undefined);
    const session = await context.newCDPSession(page);
    const { frameTree } = await session.send("Page.getFrameTree");
    // In an isolated world, the page's scripts can neither see nor replace this code.
    const { executionContextId } = await session.send("Page.createIsolatedWorld", {
      frameId: frameTree.frame.id,
    });
    const { result } = await session.send("Runtime.evaluate", {
      contextId: executionContextId,
      expression: `document.documentElement.outerHTML.slice(0, ${chars + 1})`,
      returnByValue: true,
    });
    const html = String(result.value ?? "");
    const url = URL.canParse(page.url()) ? new URL(page.url()) : address;
    return {
      url: /^https?:$/.test(url.protocol) ? url : address,
      html: html.slice(0, chars),
      isCut: html.length > chars,
    };
  }
}

function firstLine(error: unknown): string {
  const [line = ""] = String(error instanceof Error ? error.message : error).split("\n");
  return oneLine(line.replace(/^(?:page\.goto|browserType\.launch): /, "").slice(0, 200));
}
