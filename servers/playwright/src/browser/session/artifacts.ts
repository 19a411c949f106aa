import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJson } from "@refmcp/boundary/answer";
import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright";
import { exchangesOf } from "../check/events.ts";
import { violationsOf } from "../check/quality.ts";
import { MAX_HEIGHT, takeScreenshot } from "../check/screenshot.ts";
import { type CaptureOf, capture } from "../compare/capture.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { NotKept, type RunFolder, slugOf } from "../store/disk.ts";
import { CAPTURE, CAPTURE_PICTURE } from "../store/runs.ts";
import { redactZip } from "../store/zip.ts";
import type { Deadline } from "./deadline.ts";
import type { PageSession } from "./page-session.ts";
import { watchChanges } from "./settled.ts";

export const EVIDENCE = [
  "screenshot",
  "on_failure",
  "full_page",
  "trace",
  "har",
  "network",
  "video",
  "a11y",
  "capture",
] as const;
export type EvidenceKind = (typeof EVIDENCE)[number];

export interface ArtifactOptions {
  readonly kinds: readonly EvidenceKind[];
  readonly folder: RunFolder;
  readonly stem: string;
  readonly secrets: SecretsInRun;
  /** The run uses a secret, which a video or a trace's frames could show. */
  readonly writesSecrets: boolean;
  /** Describes the page in its capture. */
  readonly captured?: CaptureOf;
}

interface Pictured {
  readonly page: Page;
  readonly deadline: Deadline;
}
type Final = Pictured & Pick<PageSession, "events" | "settling">;

/** Maximum time to ask a page whether it has changed. */
const ASK_MS = 1_000;

export class RunArtifacts {
  readonly #options: ArtifactOptions;
  #context: BrowserContext | undefined;
  #early:
    | { readonly shot: ReturnType<typeof takeScreenshot>; changed(): Promise<boolean> }
    | undefined;
  #pictures = 0;
  #video = true;
  readonly notes: string[] = [];

  constructor(options: ArtifactOptions) {
    this.#options = options;
    if (options.writesSecrets && this.#wants("video"))
      this.dropVideo("no video: the run uses a secret");
  }

  #wants(kind: EvidenceKind): boolean {
    return this.#options.kinds.includes(kind) && (kind !== "video" || this.#video);
  }

  get stem(): string {
    return this.#options.stem;
  }

  #name(end: string): string {
    return `${this.#options.stem}${end}`;
  }

  #path(end: string): string {
    return join(this.#options.folder.path, this.#name(end));
  }

  async #write(end: string, data: string | Uint8Array): Promise<void> {
    await this.#options.folder.write(this.#name(end), data);
  }

  async #writeJson(end: string, value: object): Promise<void> {
    await this.#write(
      end,
      `${this.#options.secrets.redactFile(JSON.stringify(value, undefined, 2))}\n`,
    );
  }

  /** The required context options; undefined if any context will do. */
  recording(): Pick<BrowserContextOptions, "recordHar" | "recordVideo"> | undefined {
    const har = this.#wants("har");
    const video = this.#wants("video");
    if ((!har && !video) || !this.#options.folder.isUsable) return undefined;
    return {
      ...(har ? { recordHar: { path: this.#path(".har"), content: "omit" } } : {}),
      ...(video
        ? { recordVideo: { dir: this.#path("-video"), size: { width: 800, height: 450 } } }
        : {}),
    };
  }

  dropVideo(note: string): void {
    this.#video = false;
    this.notes.push(note);
  }

  async begin(context: BrowserContext): Promise<void> {
    if (!this.#wants("trace")) return;
    this.#context = context;
    await context.tracing.start({ screenshots: !this.#options.writesSecrets, snapshots: true });
  }

  async takeScreenshot({
    page,
    deadline,
    name,
    of,
  }: Pictured & { name: string | undefined; of: Locator | undefined }): Promise<void> {
    this.#pictures += 1;
    const end = name === undefined ? `${this.#pictures}` : slugOf(name, `${this.#pictures}`);
    const { png, cut } = await takeScreenshot(page, { of }, deadline);
    if (cut) this.#noteCut();
    await this.#write(`-${end}.png`, png);
  }

  /** Whether there is a screenshot of the end, whatever the verdict. */
  get hasPicture(): boolean {
    return this.#wants("screenshot") || this.#wants("full_page");
  }

  /** Takes the screenshot while waiting for the page to settle; if the page then changes, another replaces it. */
  takeScreenshotEarly({ page, events, deadline }: Final): void {
    if (!this.#wants("screenshot") || this.#wants("full_page")) return;
    const changed = watchChanges(events);
    const shot = takeScreenshot(page, {}, deadline);
    shot.catch(() => undefined);
    this.#early = { shot, changed };
  }

  /** After the verdict: the screenshot, the trace, the accessibility report, the capture. */
  async collect({ page, deadline, events, settling }: Final, passed: boolean): Promise<void> {
    const fullPage = this.#wants("full_page");
    if (this.hasPicture || (this.#wants("on_failure") && !passed)) {
      const early = this.#early;
      const isCurrent =
        early !== undefined && (await deadline.within(ASK_MS, early.changed())) === false;
      const { png, cut } = await (isCurrent
        ? early.shot
        : takeScreenshot(page, { fullPage }, deadline));
      if (cut) this.#noteCut();
      await this.#write(".png", png);
    }
    if (this.#wants("a11y")) {
      const violations = await deadline.race(violationsOf(page));
      await this.#writeJson(".a11y.json", { url: page.url(), violations });
    }
    if (this.#wants("network"))
      await this.#writeJson(
        ".network.json",
        await deadline.race(exchangesOf(events, this.#options.secrets.seen)),
      );
    const { captured } = this.#options;
    if (captured !== undefined && this.#wants("capture")) {
      const settle = () => settling.settled(deadline);
      const made = await capture(
        { page, deadline, events, secrets: this.#options.secrets },
        captured,
        settle,
      );
      await this.#write(CAPTURE_PICTURE, made.png);
      await this.#writeJson(CAPTURE, made.capture);
    }
    await this.#stopTrace(deadline);
  }

  #noteCut(): void {
    this.notes.push(
      `the page is larger than ${MAX_HEIGHT} px; the screenshot shows the first ${MAX_HEIGHT}`,
    );
  }

  async #stopTrace(deadline: Deadline): Promise<void> {
    const context = this.#context;
    if (context === undefined) return;
    const { folder, secrets } = this.#options;
    await folder.keep(this.#name(".trace.zip"), async (path) => {
      await deadline.race(context.tracing.stop({ path }));
      if (!secrets.isEmpty) await redactZip(path, secrets);
    });
    this.#context = undefined;
  }

  /** After the context is closed: names the files that the browser wrote last, and removes secrets from them. */
  async finish(): Promise<void> {
    const { folder, secrets } = this.#options;
    if (this.#wants("har"))
      await folder.keep(this.#name(".har"), async (path) => {
        // The browser's time to close may have ended before it wrote anything.
        const text = existsSync(path) ? await readFile(path, "utf8") : "";
        if (!isJson(text)) throw new NotKept("the browser did not write all of it");
        if (!secrets.isEmpty) await writeFile(path, secrets.redactFile(text), { mode: 0o600 });
      });
    if (!this.#wants("video")) return;
    const videos = this.#path("-video");
    for (const [index, name] of (await readdir(videos).catch(() => [])).sort().entries()) {
      if (!name.endsWith(".webm") || (await stat(join(videos, name))).size === 0) continue;
      await rename(join(videos, name), this.#path(index === 0 ? ".webm" : `-${index + 1}.webm`));
    }
    await rm(videos, { recursive: true, force: true });
  }
}
