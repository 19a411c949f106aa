import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Load } from "../../protocol/load.ts";
import type { Reply } from "./reply.ts";

/** What came of reading a body. */
export type Body =
  | { readonly kind: "text"; readonly text: string; readonly bytes: number }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-many" }
  | { readonly kind: "not-utf8" }
  | { readonly kind: "gone" };

/** Reads bodies within two limits: of one body, and of all messages that a process has taken on. */
export class BodyReader {
  readonly #each: number;
  readonly #load: Load;

  /** @param each most bytes of one body. */
  constructor(each: number, load: Load) {
    this.#each = each;
    this.#load = load;
  }

  /** Reads a body. While it is being read its bytes count; then its requests count them. */
  read(request: IncomingMessage, reply: Reply): Promise<Body> {
    if (Number(request.headers["content-length"] ?? 0) > this.#each)
      return Promise.resolve({ kind: "too-large" });
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const end = (body: Body) => {
        this.#load.bytes -= size;
        size = 0;
        resolve(body);
      };
      const stop = (body: Body) => {
        request.off("data", take);
        request.pause();
        end(body);
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        this.#load.bytes += chunk.length;
        if (size > this.#each) stop({ kind: "too-large" });
        else if (!this.#load.hasRoomForBytes(size, 0)) stop({ kind: "too-many" });
        else chunks.push(chunk);
      };
      request.on("data", take);
      request.once("end", () => end(decoded(chunks)));
      request.once("error", () => end({ kind: "gone" }));
      reply.whenClosed(() => end({ kind: "gone" }));
    });
  }
}

function decoded(chunks: readonly Buffer[]): Body {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  return isUtf8(bytes)
    ? { kind: "text", text: bytes.toString("utf8"), bytes: bytes.length }
    : { kind: "not-utf8" };
}
