import type { Duplex } from "node:stream";
import { ToolError } from "@refmcp/boundary/answer";

/** Maximum size of a message: a whole row is in memory before its values can be cut. */
const MAX_BYTES = 256 * 1_048_576;
const HEADER = 5;

/**
 * Watches the protocol's frames (a type, a length, that many bytes) and closes the connection before a message that would
 * fill the memory is read. PostgreSQL allows rows of up to 1 GiB.
 */
export function watchFrames(stream: Duplex): void {
  const header = Buffer.alloc(HEADER);
  let filled = 0;
  let left = 0;
  stream.prependListener("data", (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const step = Math.min(left, chunk.length - at);
        left -= step;
        at += step;
        continue;
      }
      const step = Math.min(HEADER - filled, chunk.length - at);
      chunk.copy(header, filled, at, at + step);
      filled += step;
      at += step;
      if (filled < HEADER) return;
      filled = 0;
      left = header.readUInt32BE(1) - 4;
      if (left > MAX_BYTES) stream.destroy(tooLarge(left));
    }
  });
}

function tooLarge(bytes: number): ToolError {
  return new ToolError(
    "too_large",
    `One row is ${Math.round(bytes / 1_048_576)} MiB, which is too large to read.`,
    {
      hint: "Select part of its large column: left(column, 1000), substring(column FROM 1 FOR 1000), octet_length(column).",
    },
  );
}
