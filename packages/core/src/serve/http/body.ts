import type { IncomingMessage } from "node:http";

/** What came of reading a body. */
export type Body =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-many" }
  | { readonly kind: "not-utf8" }
  | { readonly kind: "gone" };

/** A body of at most so many bytes is read even where large ones have used up the limit of all. */
const SMALL_BYTES = 16_384;

/** Reads bodies within two limits: of one body, and of all that are read and whose requests go on. */
export class BodyReader {
  readonly #each: number;
  readonly #all: number;
  #held = 0;

  /** @param each most bytes of one body. @param all most bytes of all bodies under way. */
  constructor(each: number, all: number) {
    this.#each = each;
    this.#all = all;
  }

  /** @param whenClosed takes what to do when the response is over: what was read counts until then. */
  async read(request: IncomingMessage, whenClosed: (work: () => void) => void): Promise<Body> {
    if (Number(request.headers["content-length"] ?? 0) > this.#each) return { kind: "too-large" };
    const chunks: Buffer[] = [];
    let size = 0;
    whenClosed(() => {
      this.#held -= size;
      size = 0;
    });
    try {
      for await (const chunk of request) {
        const bytes: Buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        size += bytes.length;
        this.#held += bytes.length;
        if (size > this.#each) return { kind: "too-large" };
        if (size > SMALL_BYTES && this.#held > this.#all) return { kind: "too-many" };
        chunks.push(bytes);
      }
      return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
    } catch (error) {
      return { kind: error instanceof TypeError ? "not-utf8" : "gone" };
    }
  }
}
