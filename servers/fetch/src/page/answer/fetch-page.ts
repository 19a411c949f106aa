/** Fetching a page, or several at once: downloads, reads the requested view, and cuts the requested piece. */
import { ToolError } from "@refmcp/boundary/answer";
import type { Web } from "../download/web.ts";
import type { Snapshot } from "../read/snapshot.ts";
import { metadataOf } from "./metadata-of.ts";
import { type Piece, pieceOf } from "./piece.ts";

/** Which part of a page is requested, and how. */
export interface FetchRequest {
  readonly url: string;
  readonly format?: "markdown" | "metadata";
  /** The source instead of Markdown. */
  readonly raw?: boolean;
  readonly selector?: string | undefined;
  readonly section?: string | undefined;
  readonly include_links?: boolean;
  readonly start_index?: number;
  readonly max_length: number;
  /** Seconds. */
  readonly max_age: number;
}

/** The limits of an answer, and the client's log. */
interface CallBudget {
  readonly signal: AbortSignal;
  /** Characters. */
  readonly budget: number;
  log(level: "warning", message: string): void;
}

/** The result of a fetch: a piece of a page, a page's metadata, or a file that is not text. */
export type FetchResult =
  | { readonly kind: "piece"; readonly snapshot: Snapshot; readonly piece: Piece }
  | { readonly kind: "facts"; readonly facts: object }
  | { readonly kind: "file"; readonly snapshot: Snapshot };

/** Characters reserved for our own lines, except notes. */
const FRAME_CHARS = 800;

/**
 * Fetches a page and returns the requested piece.
 *
 * @throws ToolError as `Web.get`, `Snapshot.page` and `pieceOf`.
 */
export async function fetchPage(
  web: Web,
  request: FetchRequest,
  call: CallBudget,
): Promise<FetchResult> {
  const { signal, budget } = call;
  const { format, raw, selector, section, start_index: start = 0 } = request;
  const { include_links: includeLinks = true } = request;
  // Later pieces come from the same download as the first, however old it is.
  const age = start > 0 ? {} : { maxAgeMs: request.max_age * 1_000 };
  const snapshot = await web.get(request.url, { signal, ...age }).catch((error: unknown) => {
    if (error instanceof ToolError && error.kind === "denied") call.log("warning", error.message);
    throw error;
  });
  if (format === "metadata") {
    if (raw || section !== undefined)
      throw new ToolError("invalid", "raw and section do not work with format metadata.", {
        hint: "Omit them for the outline, or format for the text.",
      });
    const page = snapshot.isReadable ? await snapshot.page({ selector }, signal) : undefined;
    return { kind: "facts", facts: metadataOf(snapshot, page, budget) };
  }
  const isPart = selector !== undefined || section !== undefined;
  if (!snapshot.isReadable && !isPart) return { kind: "file", snapshot };
  const fragment = fragmentOf(snapshot.answer.url.href) ?? fragmentOf(request.url);
  const page = await snapshot.page({ raw, includeLinks, selector, section, fragment }, signal);
  const lines = (page.notes ?? []).join("\n\n\n").length;
  const max = Math.min(request.max_length, Math.max(1, budget - FRAME_CHARS - lines));
  return { kind: "piece", snapshot, piece: pieceOf(snapshot, page, start, max) };
}

/** A URL's fragment, percent-encoded. */
function fragmentOf(url: string): string | undefined {
  return (URL.canParse(url) && new URL(url).hash.slice(1)) || undefined;
}

/** Why one of several pages is missing. */
export interface Failure {
  readonly kind: "failed";
  readonly text: string;
}

/** A call of several pages; `progress` gets the number done, the total, and the last URL. */
export type SeveralPages = CallBudget & {
  progress(done: number, total: number, url: string): void;
};

/**
 * Runs some work for each page, at most two at a time per host, and returns the results in the order of the URLs. A ToolError
 * becomes that page's failure.
 *
 * @throws ToolError `unavailable` if all of them failed; the signal's reason.
 */
export async function eachPage<Result extends object>(
  urls: readonly string[],
  call: SeveralPages,
  work: (url: string) => Promise<Result>,
): Promise<(Result | Failure)[]> {
  let done = 0;
  const outcomes = await Promise.all(
    urls.map(async (url) => {
      try {
        return await work(url);
      } catch (error) {
        if (!(error instanceof ToolError) || call.signal.aborted) throw error;
        const { message, hint = "" } = error;
        const text = `Failed to fetch ${url.slice(0, 500)}: ${message} ${hint}`.trim();
        return { kind: "failed" as const, text };
      } finally {
        done += 1;
        call.progress(done, urls.length, url.slice(0, 200));
      }
    }),
  );
  const failures = outcomes.filter(isFailure).map(({ text }) => text);
  if (failures.length < outcomes.length) return outcomes;
  throw new ToolError("unavailable", `None of the pages could be fetched.\n${failures.join("\n")}`);
}

export const isFailure = (outcome: object): outcome is Failure =>
  "kind" in outcome && outcome.kind === "failed";
