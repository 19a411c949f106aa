import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createWriteStream } from "node:fs";
import { CALLS } from "../engine/request.ts";
import type { Log } from "../log.ts";

/**
 * Writes one JSON line for each tool call: when, who, which tool, what it may do, how long it took, how long the answer
 * was and how it ended. Arguments and answers are never part of it.
 *
 * @param file lines are appended to it; `-` for stderr.
 * @param maxUnwritten how many bytes may wait for a disk or a reader that is stalled; lines beyond them are lost.
 * @returns a function that ends this.
 */
export function auditTo(file: string, log: Log, maxUnwritten = 16 * 1_048_576) {
  const stream =
    file === "-" ? process.stderr : createWriteStream(file, { flags: "a", mode: 0o600 });
  stream.on("error", (error) =>
    log.error(`The audit log ${file} cannot be written: ${error.message}`),
  );
  let isStalled = false;
  const write = (call: unknown) => {
    const wasStalled = isStalled;
    isStalled = stream.writableLength > maxUnwritten;
    if (isStalled && !wasStalled) log.error(`The audit log ${file} is stalled; lines are lost.`);
    if (isStalled) return;
    stream.write(`${JSON.stringify({ time: new Date().toISOString(), ...Object(call) })}\n`);
  };
  subscribe(CALLS, write);
  return () =>
    new Promise<void>((resolve) => {
      unsubscribe(CALLS, write);
      if (stream === process.stderr) resolve();
      else stream.end(() => resolve());
    });
}
