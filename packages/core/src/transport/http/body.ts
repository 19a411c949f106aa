import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Principal } from "../../engine/caller.ts";
import { parseError } from "../../engine/errors.ts";
import type { Load } from "../../engine/load.ts";
import { parseMessage, show } from "../../engine/message.ts";
import { type Answer, errorAnswer, headerOf, type Reply, refuse } from "./reply.ts";

/**
 * Reads a message within two limits: `maxBytes` for one, and `load` for all of a process. Its bytes count while it is
 * being read; afterwards its requests count them.
 *
 * @returns a response if it is refused; undefined if the client has gone.
 */
export async function readBody(
  node: IncomingMessage,
  reply: Reply,
  load: Load,
  maxBytes: number,
  { owner }: Principal,
) {
  const type = headerOf(node.headers, "content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type) || /charset\s*=(?!\s*"?utf-?8)/i.test(type))
    return refuse(415, "Content-Type must be application/json, in UTF-8.");
  const encoding = headerOf(node.headers, "content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    return refuse(415, `The Content-Encoding ${show(encoding)} is not supported.`);
  const tooLarge = refuse(413, `A message can have at most ${maxBytes} bytes.`);
  if (Number(node.headers["content-length"] ?? 0) > maxBytes) return tooLarge;
  const bytes = await new Promise<Buffer | Answer | undefined>((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let done: typeof resolve | undefined = resolve;
    const end = (result: Buffer | Answer | undefined) => {
      load.bytes.count(-size, owner);
      size = 0;
      // The listeners stay as long as the response is open, which may be days; the body must not stay with them.
      chunks = [];
      done?.(result);
      done = undefined;
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      load.bytes.count(chunk.length, owner);
      chunks.push(chunk);
      const isTooLarge = size > maxBytes;
      if (!isTooLarge && load.hasRoomForBytes(size, owner, 0)) return;
      node.off("data", onData);
      node.pause();
      const busy = "Too many large messages at once; retry later.";
      end(isTooLarge ? tooLarge : refuse(503, busy, { "retry-after": "1" }));
    };
    node.on("data", onData);
    node.once("end", () => end(Buffer.concat(chunks)));
    node.once("error", () => end(undefined));
    reply.whenClosed(() => end(undefined));
  });
  if (bytes === undefined || "status" in bytes) return bytes;
  if (!isUtf8(bytes)) return errorAnswer(400, parseError("The body is not valid UTF-8."));
  const message = parseMessage(bytes.toString("utf8"));
  if ("error" in message) return errorAnswer(400, message.error);
  return { value: message.value, bytes: bytes.length };
}
