import { readFile, stat, writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { sized } from "@refmcp/boundary/answer";
import type { BrowserContext, Download, Page } from "playwright";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { type RunFolder, slugOf } from "../store/disk.ts";
import { isText, mimeOf } from "../store/runs.ts";

/** Maximum downloads of a run, and bytes of each. */
const MAX_DOWNLOADS = 5;
export const MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024;

export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export interface DownloadLine {
  readonly name: string;
  readonly url: string;
  state: "running" | "finished" | "failed";
  failure?: string;
}

interface DownloadOptions {
  readonly folder: RunFolder;
  readonly stem: string;
  readonly secrets: SecretsInRun;
  /** Whether downloads are kept; otherwise each is cancelled and listed. */
  readonly isKept: boolean;
}

/**
 * Keeps downloads as artifacts, up to a number and a size; larger ones are cancelled. They use the page's own
 * network, with the same limits.
 */
export class Downloads {
  readonly lines: DownloadLine[] = [];
  readonly #options: DownloadOptions;
  readonly #running = new Map<Page, (() => void)[]>();

  constructor(context: BrowserContext, options: DownloadOptions) {
    this.#options = options;
    if (options.isKept) {
      for (const page of context.pages()) this.#watchSize(page);
      context.on("page", (page) => this.#watchSize(page));
    }
    context.on("download", (download) => void this.#keep(download));
  }

  notes(): string[] {
    return this.lines.map(({ name, state, failure }) => `download ${name}: ${failure ?? state}`);
  }

  /** Cancels a download that gets too large; the browser reports its progress to early listeners only. */
  #watchSize(page: Page): void {
    const watch = async () => {
      const session = await page.context().newCDPSession(page);
      session.on("Page.downloadProgress", ({ receivedBytes }) => {
        if (receivedBytes > MAX_DOWNLOAD_BYTES)
          for (const stop of this.#running.get(page) ?? []) stop();
      });
      await session.send("Page.enable");
    };
    // Without it, for example in a popup that closed immediately, the size is checked at the end.
    watch().catch(() => undefined);
  }

  async #keep(download: Download): Promise<void> {
    const { folder, stem, secrets, isKept } = this.#options;
    // It becomes the artifact's name.
    const name = secrets.redact(download.suggestedFilename()).slice(0, 200);
    if (this.lines.length >= MAX_DOWNLOADS) return void download.cancel().catch(() => undefined);
    const line: DownloadLine = { name, url: download.url(), state: "running" };
    this.lines.push(line);
    if (!isKept) {
      Object.assign(line, { state: "failed", failure: "not kept: no step or assertion uses it" });
      return void download.cancel().catch(() => undefined);
    }
    const stop = () => {
      line.failure ??= `it is larger than ${sized(MAX_DOWNLOAD_BYTES)}`;
      download.cancel().catch(() => undefined);
    };
    const page = download.page();
    this.#running.set(page, [...(this.#running.get(page) ?? []), stop]);
    const file = `${stem}-download-${this.lines.length}-${fileName(name)}`;
    try {
      const failure = await download.failure();
      if (failure !== null) throw new Error(failure);
      await folder.keep(file, async (path) => {
        await download.saveAs(path);
        const { size } = await stat(path);
        if (size > MAX_DOWNLOAD_BYTES)
          throw new Error(`it is larger than ${sized(MAX_DOWNLOAD_BYTES)}`);
        if (!secrets.isEmpty && isText(mimeOf(path))) {
          const bytes = await readFile(path);
          // Spreadsheets write UTF-16.
          const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf16le" : "utf8";
          await writeFile(path, secrets.redact(bytes.toString(encoding)), {
            mode: 0o600,
            encoding,
          });
        }
      });
      line.state = "finished";
    } catch (error) {
      line.failure ??= error instanceof Error ? error.message : String(error);
      line.state = "failed";
    }
  }
}

/** A site's file name as an artifact name: letters, digits and hyphens, and a short extension. */
function fileName(name: string): string {
  const extension = /^\.[a-z0-9]{1,8}$/i.exec(extname(name))?.[0].toLowerCase() ?? "";
  return `${slugOf(name.slice(0, name.length - extension.length), "file")}${extension}`;
}
