import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJson } from "@refmcp/boundary/answer";
import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright";
import type { Deadline } from "../deadline.ts";
import { masksOn } from "../secrets/fields.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { NotKept, type RunFolder, slugOf } from "../store/disk.ts";

export const EVIDENCE = ["screenshot", "on_failure", "full_page", "trace", "har", "video"] as const;
export type EvidenceKind = (typeof EVIDENCE)[number];

export interface ArtifactOptions {
  readonly kinds: readonly EvidenceKind[];
  readonly folder: RunFolder;
  readonly stem: string;
  readonly secrets: SecretsInRun;
}

interface Pictured {
  readonly page: Page;
  readonly deadline: Deadline;
}

/** What a run keeps in its folder. */
export class RunArtifacts {
  readonly #options: ArtifactOptions;
  readonly #kinds: Set<EvidenceKind>;
  #context: BrowserContext | undefined;
  #pictures = 0;
  readonly notes: string[] = [];

  constructor(options: ArtifactOptions) {
    this.#options = options;
    this.#kinds = new Set(options.kinds);
    // Its pictures could show it.
    if (options.secrets.isInUse && this.#kinds.delete("trace"))
      this.notes.push("no trace: the run uses a secret");
  }

  /** Whether there is a screenshot of the end, with any verdict. */
  get hasPicture(): boolean {
    return this.#kinds.has("screenshot") || this.#kinds.has("full_page");
  }

  /** The context options for what the browser records; undefined if it records nothing. */
  recording(): Pick<BrowserContextOptions, "recordHar"> | undefined {
    if (!this.#kinds.has("har") || !this.#options.folder.isUsable) return undefined;
    const path = join(this.#options.folder.path, this.#name(".har"));
    return { recordHar: { path, content: "omit" } };
  }

  async begin(context: BrowserContext): Promise<void> {
    if (!this.#kinds.has("trace")) return;
    this.#context = context;
    await context.tracing.start({ screenshots: true, snapshots: true });
  }

  /** The picture of a step. */
  async takeScreenshot(
    on: Pictured,
    name: string | undefined,
    of: Locator | undefined,
  ): Promise<void> {
    this.#pictures += 1;
    const end = name === undefined ? `${this.#pictures}` : slugOf(name, `${this.#pictures}`);
    await this.#picture(`-${end}.png`, on, { of });
  }

  /** After the verdict: the screenshot and the trace. */
  async collect(session: Pictured, passed: boolean): Promise<void> {
    if (this.hasPicture || (this.#kinds.has("on_failure") && !passed))
      await this.#picture(".png", session, { fullPage: this.#kinds.has("full_page") });
    const context = this.#context;
    this.#context = undefined;
    if (context !== undefined)
      await this.#options.folder.keep(this.#name(".trace.zip"), (path) =>
        session.deadline.race(context.tracing.stop({ path })),
      );
  }

  /** After the context is closed: keeps the HAR, which the browser writes last. */
  async finish(): Promise<void> {
    const { folder } = this.#options;
    if (!this.#kinds.has("har")) return;
    await folder.keep(this.#name(".har"), async (path) => {
      // The browser's time to close may have ended before it wrote anything.
      const text = existsSync(path) ? await readFile(path, "utf8") : "";
      if (!isJson(text)) throw new NotKept("the browser did not write all of it");
      await folder.write(this.#name(".har"), text);
    });
  }

  async #picture(end: string, { page, deadline }: Pictured, shot: Shot): Promise<void> {
    const { secrets } = this.#options;
    const { png, cut } = await takeScreenshot(page, shot, { deadline, secrets });
    const size = `${MAX_HEIGHT} px; the screenshot shows the first ${MAX_HEIGHT}`;
    if (cut) this.notes.push(`the page is larger than ${size}`);
    await this.#options.folder.write(this.#name(end), png);
  }

  #name(end: string): string {
    return `${this.#options.stem}${end}`;
  }
}

/** Maximum height of a screenshot: the browser would need gigabytes for more. */
const MAX_HEIGHT = 16_000;

interface Shot {
  readonly fullPage?: boolean;
  readonly of?: Locator | undefined;
  /** With animations finished, for comparison. */
  readonly still?: boolean;
}

/** A screenshot of the page or of an element, without what shows a secret; `cut` if the page is too high. */
export async function takeScreenshot(
  page: Page,
  { fullPage = false, of, still = false }: Shot,
  { deadline, secrets }: { readonly deadline: Deadline; readonly secrets: SecretsInRun },
): Promise<{ png: Buffer; cut: boolean }> {
  const options = {
    // What moves would leave its mask behind.
    animations: still || secrets.isInUse ? ("disabled" as const) : ("allow" as const),
    scale: "css" as const,
    mask: masksOn(page, secrets),
    timeout: Math.max(1, Math.min(10_000, deadline.leftMs)),
  };
  if (of !== undefined || !fullPage)
    return { png: await deadline.race((of ?? page).screenshot(options)), cut: false };
  const [width = 0, height = 0] = await deadline.race(
    page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return [Math.max(scrollWidth, innerWidth), Math.max(scrollHeight, innerHeight)];
    }),
  );
  const cut = height > MAX_HEIGHT || width > MAX_HEIGHT;
  const size = { width: Math.min(width, MAX_HEIGHT), height: Math.min(height, MAX_HEIGHT) };
  const whole = { ...options, fullPage: true, ...(cut ? { clip: { x: 0, y: 0, ...size } } : {}) };
  return { png: await deadline.race(page.screenshot(whole)), cut };
}
