import { ToolError } from "@refmcp/boundary/answer";
import type { Web } from "../download/web.ts";
import type { Page, Snapshot, View } from "../read/snapshot.ts";
import { highlightsOf, metadataOf, type Piece, pieceOf } from "./piece.ts";

/** Which part of a page is requested, and how. */
export interface FetchRequest {
  readonly url: string;
  readonly format: View["format"] | "metadata";
  readonly selector?: string | undefined;
  readonly section?: string | undefined;
  readonly include_links: boolean;
  readonly start_index: number;
  readonly max_length: number;
  /** Seconds. */
  readonly max_age: number;
}

/** The limits of an answer. */
interface CallBudget {
  readonly signal: AbortSignal;
  /** Characters. */
  readonly budget: number;
}

/** The result of a fetch: a piece of a page, a page's metadata, or a file that is not text. */
export type FetchResult =
  | {
      readonly kind: "piece";
      readonly snapshot: Snapshot;
      readonly piece: Piece;
      readonly isFirst: boolean;
    }
  | { readonly kind: "facts"; readonly facts: object }
  | { readonly kind: "file"; readonly snapshot: Snapshot };

/** Characters reserved for our own lines, except notes and highlights. */
const FRAME_CHARS = 800;

/**
 * Fetches a page and returns the requested piece.
 *
 * @throws ToolError as `Web.get`, `Snapshot.page` and `pieceOf`.
 */
export async function fetchPage(
  web: Web,
  asked: FetchRequest,
  { signal, budget }: CallBudget,
): Promise<FetchResult> {
  // Later pieces come from the same download as the first, however old it is.
  const age = asked.start_index > 0 ? {} : { maxAgeMs: asked.max_age * 1_000 };
  const snapshot = await web.get(asked.url, { signal, ...age });
  const { format, include_links: includeLinks, selector, section } = asked;
  const fragment = fragmentOf(snapshot.answer.url.href) ?? fragmentOf(asked.url);
  if (format === "metadata") {
    if (section !== undefined)
      throw new ToolError("invalid", "section does not work with format metadata.", {
        hint: "Omit section for the outline, or format for the text.",
      });
    const page: Page | undefined = snapshot.isReadable
      ? await snapshot.page({ format: "auto", includeLinks, selector }, signal)
      : undefined;
    const note =
      fragment === undefined
        ? {}
        : { note: "The whole page: indexes are for url, without the #fragment." };
    return { kind: "facts", facts: { ...metadataOf(snapshot, page, budget), ...note } };
  }
  const wantsText =
    selector !== undefined || section !== undefined || format === "json" || format === "links";
  if (!snapshot.isReadable && !wantsText) return { kind: "file", snapshot };
  const view = { format, includeLinks, selector, section, fragment };
  const page = await snapshot.page(view, signal);
  const lines = [...(page.notes ?? []), ...(highlightsOf(page) ?? [])].join("\n\n\n").length;
  const most = Math.min(asked.max_length, Math.max(1, budget - FRAME_CHARS - lines));
  const piece = pieceOf(snapshot, page, asked.start_index, most);
  return { kind: "piece", snapshot, piece, isFirst: asked.start_index === 0 };
}

/** A URL's fragment, percent-encoded. */
export function fragmentOf(url: string): string | undefined {
  return (URL.canParse(url) && new URL(url).hash.slice(1)) || undefined;
}

/** The result for one of several pages, or the error. */
export type FetchOutcome = FetchResult | { readonly kind: "failed"; readonly text: string };

/** A call of several pages; `progress` gets the number done, the total, and the last URL. */
type SeveralPages = CallBudget & { progress(done: number, total: number, url: string): void };

/** Does something with each page, in the order of the URLs; its ToolError becomes a failure of that page. */
export async function eachPage<Result>(
  urls: readonly string[],
  call: SeveralPages,
  work: (url: string) => Promise<Result>,
): Promise<(Result | { readonly kind: "failed"; readonly text: string })[]> {
  let done = 0;
  return await Promise.all(
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
}

/** Fetches several pages, at most two at a time per host, and returns the beginning of each in the order of the URLs. */
export async function fetchPages(
  web: Web,
  urls: readonly string[],
  asked: Pick<FetchRequest, "format" | "include_links" | "max_length" | "max_age">,
  call: SeveralPages,
): Promise<FetchOutcome[]> {
  const part = { signal: call.signal, budget: Math.floor(call.budget / urls.length) };
  return await eachPage(urls, call, (url) =>
    fetchPage(web, { ...asked, url, start_index: 0 }, part),
  );
}
