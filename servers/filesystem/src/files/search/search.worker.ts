/**
 * The thread that looks into files, so that a pattern or a file that takes long never holds up the server, and can
 * be ended by force. It knows no boundary but what it is given: see `openScanned`.
 */
import { closeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { type ExtractRequest, extractLines } from "./line-extract.ts";
import { type LineMatcher, lineMatcher } from "./line-matcher.ts";
import { openScanned } from "./open-scanned.ts";
import type { ScanAnswer, ScanRequest } from "./scan-protocol.ts";
import type { TextPattern } from "./text-pattern.ts";

const COUNT: ExtractRequest = { from: 1, most: 0, context: 0, width: 0, total: true };

let last: { key: string; matcher: LineMatcher } | undefined;

function matcherOf(pattern: TextPattern): LineMatcher {
  const key = JSON.stringify(pattern);
  if (last?.key !== key) last = { key, matcher: lineMatcher(pattern) };
  return last.matcher;
}

function answer(request: ScanRequest): ScanAnswer {
  const matcher = matcherOf(request.pattern);
  if (request.kind === "extract") {
    return { extract: extract(request.fd, matcher, request.extract) };
  }
  const { at, realPath, paths } = request;
  return { counts: paths.map((path) => countAt(at, realPath, path, matcher)) };
}

function countAt(at: string, realPath: string, path: string, matcher: LineMatcher): number {
  const fd = openScanned(at, realPath, path);
  if (fd === undefined) return 0;
  try {
    return extract(fd, matcher, COUNT).total;
  } finally {
    closeSync(fd);
  }
}

/** Nothing where the system fails to read the file. */
function extract(fd: number, matcher: LineMatcher, request: ExtractRequest) {
  try {
    return extractLines(fd, matcher, request);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return { lines: [], more: false, total: 0 };
    throw error;
  }
}

parentPort?.on("message", (request: ScanRequest) => {
  parentPort?.postMessage(answer(request));
});
