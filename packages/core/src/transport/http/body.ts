import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Load } from "../../protocol/load.ts";
import type { Reply } from "./reply.ts";

/** The result of reading a body. */
export type Body =
  | { readonly kind: "text"; readonly text: string; readonly bytes: number }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-many" }
  | { readonly kind: "not-utf8" }
  | { readonly kind: "gone" };

/**
 * Reads a body within two limits: `maxBytes` for one body, and `load` for all messages of a process. Its bytes count
 * while it is being read; afterwards its requests count them.
 */
export function readBody(
  request: IncomingMessage,
  reply: Reply,
  { maxBytes, load }: { readonly maxBytes: number; readonly load: Load },
): Promise<Body> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes)
    return Promise.resolve({ kind: "too-large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (body: Body) => {
      load.bytes -= size;
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
      load.bytes += chunk.length;
      if (size > maxBytes) stop({ kind: "too-large" });
      else if (!load.hasRoomForBytes(size, 0)) stop({ kind: "too-many" });
      else chunks.push(chunk);
    };
    request.on("data", take);
    request.once("end", () => end(decoded(chunks)));
    request.once("error", () => end({ kind: "gone" }));
    reply.whenClosed(() => end({ kind: "gone" }));
  });
}

function decoded(chunks: readonly Buffer[]): Body {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  return isUtf8(bytes)
    ? { kind: "text", text: bytes.toString("utf8"), bytes: bytes.length }
    : { kind: "not-utf8" };
}
