import { sizeOf } from "@refmcp/boundary/answer";
import type { BrowserContext, Download, Page } from "playwright";

const MAX_DOWNLOADS = 5;
const MAX_BYTES = 20 * 1024 * 1024;

export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

interface DownloadLine {
  readonly name: string;
  state: "running" | "finished" | "failed";
  failure?: string;
}

/** The downloads of a run. They use the page's own network, and the browser deletes them with its context. */
export class Downloads {
  readonly lines: DownloadLine[] = [];
  readonly #running = new Set<Download>();
  readonly #see: (text: string) => string;

  /** @param see removes secrets. */
  constructor(context: BrowserContext, see: (text: string) => string) {
    this.#see = see;
    for (const page of context.pages()) this.#watchSize(page);
    context.on("page", (page) => this.#watchSize(page));
    context.on("download", (download) => void this.#note(download));
  }

  notes(): string[] {
    return this.lines.map(({ name, state, failure }) => `download ${name}: ${failure ?? state}`);
  }

  /** Cancels a download that gets too large; the browser reports its progress to early listeners only. */
  #watchSize(page: Page): void {
    const watch = async () => {
      const session = await page.context().newCDPSession(page);
      session.on("Page.downloadProgress", ({ receivedBytes }) => {
        if (receivedBytes < MAX_BYTES) return;
        for (const download of this.#running) if (download.page() === page) void download.cancel();
      });
      await session.send("Page.enable");
    };
    watch().catch(() => undefined);
  }

  async #note(download: Download): Promise<void> {
    if (this.lines.length >= MAX_DOWNLOADS) return download.cancel().catch(() => undefined);
    const name = this.#see(download.suggestedFilename()).slice(0, 200);
    const line: DownloadLine = { name, state: "running" };
    this.lines.push(line);
    this.#running.add(download);
    const failure = await download.failure().catch(String);
    this.#running.delete(download);
    line.state = failure === null ? "finished" : "failed";
    if (failure === null) return;
    const isUnused = failure.includes("acceptDownloads");
    const limited = `${failure} (the limit is ${sizeOf(MAX_BYTES)})`;
    line.failure = isUnused ? "not accepted: no step or assertion uses it" : limited;
  }
}
