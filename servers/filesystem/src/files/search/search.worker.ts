/**
 * The thread that looks into files, so that a pattern or a file that takes long never holds up the server, and can
 * be ended by force. It knows no boundary but what it is given: see `openScanned`.
 */
import { closeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { countLines, extractLines } from "./line-extract.ts";
import { type LineMatcher, lineMatcher } from "./line-matcher.ts";
import { openScanned } from "./open-scanned.ts";
import type { ScanAnswer, ScanRequest } from "./scan-protocol.ts";
import type { TextPattern } from "./text-pattern.ts";

let last: { key: string; matcher: LineMatcher } | undefined;

async function matcherOf(pattern: TextPattern): Promise<LineMatcher> {
  const key = JSON.stringify(pattern);
  if (last?.key !== key) last = { key, matcher: await lineMatcher(pattern) };
  return last.matcher;
}

async function answer(request: ScanRequest): Promise<ScanAnswer> {
  const matcher = await matcherOf(request.pattern);
  switch (request.kind) {
    case "extract": {
      const none = { lines: [], more: false };
      return { extract: readable(() => extractLines(request.fd, matcher, request.extract)) ?? none };
    }
    case "count-open":
      return { counts: [readable(() => countLines(request.fd, matcher)) ?? 0] };
    case "count": {
      const { at, realPath, paths } = request;
      return { counts: paths.map((path) => countAt(at, realPath, path, matcher)) };
    }
  }
}

function countAt(at: string, realPath: string, path: string, matcher: LineMatcher): number {
  const fd = openScanned(at, realPath, path);
  if (fd === undefined) return 0;
  try {
    return readable(() => countLines(fd, matcher)) ?? 0;
  } finally {
    closeSync(fd);
  }
}

/** Undefined where the system fails to read the file. */
function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return undefined;
    throw error;
  }
}

parentPort?.on("message", (request: ScanRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply));
});
