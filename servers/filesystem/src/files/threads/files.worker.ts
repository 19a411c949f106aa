/**
 * The thread for what takes long, so that it never holds up the server and can be ended by force. It knows no boundary
 * but what it is given: see `openScanned`.
 */
import { closeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { ToolError } from "@refmcp/core/answer";
import { type ExtractRequest, extractLines } from "../search/line-extract.ts";
import { type LineMatcher, lineMatcher } from "../search/line-matcher.ts";
import { openScanned } from "../search/open-scanned.ts";
import type { TextPattern } from "../search/text-pattern.ts";
import type { ThreadAnswer, ThreadRequest } from "./protocol.ts";

const COUNT: ExtractRequest = { from: 1, most: 0, context: 0, width: 0, total: true };

let last: { key: string; matcher: LineMatcher } | undefined;

function matcherOf(pattern: TextPattern): LineMatcher {
  const key = JSON.stringify(pattern);
  if (last?.key !== key) last = { key, matcher: lineMatcher(pattern) };
  return last.matcher;
}

async function answer(request: ThreadRequest): Promise<ThreadAnswer> {
  if (request.kind === "edit") {
    const { editBytes } = await import("../edit/edit-bytes.ts");
    return { edited: editBytes(request.edit) };
  }
  if (request.kind === "pdf") {
    const { pdfText } = await import("../read/pdf-text.ts");
    return { pdf: await pdfText(request.path, request.bytes) };
  }
  if (request.kind === "diff") {
    const { diffTexts } = await import("../edit/diff.ts");
    return { diff: diffTexts(request.diff) };
  }
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

function refusal(error: unknown): ThreadAnswer {
  if (!(error instanceof ToolError)) throw error;
  const { kind, message, hint } = error;
  return { refusal: { kind, message, hint } };
}

parentPort?.on("message", (request: ThreadRequest) => {
  void answer(request)
    .catch(refusal)
    .then((reply) => parentPort?.postMessage(reply));
});
