/** One download: its bytes, what kind of file they are, and the texts that were read from it. */
import { createHash } from "node:crypto";
import { cleanText } from "@refmcp/boundary/answer";
import type { HttpAnswer } from "@refmcp/boundary/http-client";
import { decodeText, type Encoding, encodingOf } from "./charset.ts";
import type { Converter } from "./converter.ts";
import { type Body, kindOf } from "./media-type.ts";
import { type Page, readView, type View } from "./views.ts";

export class Snapshot {
  /** A hash of its URL and content, so the same content has the same id. */
  readonly id: string;
  readonly answer: HttpAnswer;
  readonly body: Body;
  readonly encoding: Encoding;
  /** When it, or the same content, was last downloaded, in milliseconds since 1970. */
  fetchedAt = Date.now();
  readonly #converter: Converter;
  readonly #pages = new Map<string, Page>();

  private constructor(answer: HttpAnswer, body: Body, encoding: Encoding, converter: Converter) {
    this.answer = answer;
    this.body = body;
    this.encoding = encoding;
    this.#converter = converter;
    const hash = createHash("sha256").update(answer.url.href).update("\n").update(answer.body);
    this.id = hash.digest("hex").slice(0, 12);
  }

  static async of(answer: HttpAnswer, converter: Converter): Promise<Snapshot> {
    const type = answer.headers["content-type"] ?? "";
    const body = await kindOf(answer.body, type);
    const encoding = await encodingOf(answer.body, type, body.kind === "html");
    return new Snapshot(answer, body, encoding, converter);
  }

  get uri(): string {
    return `fetch://snapshot/${this.id}`;
  }

  /** Approximate size in memory, in bytes. */
  get size(): number {
    let chars = 0;
    for (const { text } of this.#pages.values()) chars += text.length;
    return this.answer.body.length + chars * 2;
  }

  get isText(): boolean {
    return this.body.kind === "html" || this.body.kind === "json" || this.body.kind === "text";
  }

  /** Whether it has text, possibly after a conversion. */
  get isReadable(): boolean {
    return this.isText || this.body.kind === "pdf" || this.body.kind === "office";
  }

  /** The decoded body, without hidden characters. */
  source(): string {
    return cleanText(decodeText(this.answer.body, this.encoding));
  }

  /**
   * The text of a view; extracted only once.
   *
   * @throws ToolError as `readView`; the signal's reason.
   */
  async page(view: View, signal: AbortSignal): Promise<Page> {
    return await readView(this, view, { pages: this.#pages, converter: this.#converter, signal });
  }
}
