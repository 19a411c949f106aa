import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Reply } from "./reply.ts";

/** What came of reading a body. */
export type Body =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-many" }
  | { readonly kind: "not-utf8" }
  | { readonly kind: "gone" };

/** A body up to this size is read even where large ones have used up the limit of all. */
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

  /** @param reply until it is over, what was read counts. */
  read(request: IncomingMessage, reply: Reply): Promise<Body> {
    if (Number(request.headers["content-length"] ?? 0) > this.#each)
      return Promise.resolve({ kind: "too-large" });
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const stop = (body: Body) => {
        request.off("data", take);
        request.pause();
        resolve(body);
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        this.#held += chunk.length;
        if (size > this.#each) stop({ kind: "too-large" });
        else if (size > SMALL_BYTES && this.#held > this.#all) stop({ kind: "too-many" });
        else chunks.push(chunk);
      };
      request.on("data", take);
      request.once("end", () => resolve(decoded(chunks)));
      request.once("error", () => resolve({ kind: "gone" }));
      reply.whenClosed(() => {
        this.#held -= size;
        size = 0;
        resolve({ kind: "gone" });
      });
    });
  }
}

function decoded(chunks: readonly Buffer[]): Body {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  return isUtf8(bytes) ? { kind: "text", text: bytes.toString("utf8") } : { kind: "not-utf8" };
}
