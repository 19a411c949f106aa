import { metadataOf, type Piece, pieceOf } from "./piece.ts";
import type { Page, Snapshot, View } from "./snapshot.ts";
import type { Web } from "./web.ts";

/** What a page is asked for. */
export interface Asked {
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

/** What an answer may take. */
export interface CallBudget {
  readonly signal: AbortSignal;
  /** Characters. */
  readonly budget: number;
}

/** What was fetched: a piece of a page, everything known about one, or a file that is not text. */
export type Shown =
  | { readonly kind: "piece"; readonly snapshot: Snapshot; readonly piece: Piece; readonly isFirst: boolean }
  | { readonly kind: "facts"; readonly facts: object }
  | { readonly kind: "file"; readonly snapshot: Snapshot };

/** Characters of an answer that are ours. */
const FRAME_CHARS = 800;

/**
 * Fetches a page and cuts the piece of it that was asked for.
 *
 * @throws ToolError as `Web.get`, `Snapshot.page` and `pieceOf`.
 */
export async function fetchPage(web: Web, asked: Asked, { signal, budget }: CallBudget): Promise<Shown> {
  // A later piece belongs to the download of the first, however old that is.
  const age = asked.start_index > 0 ? {} : { maxAgeMs: asked.max_age * 1_000 };
  const snapshot = await web.get(asked.url, { signal, ...age });
  const { format, include_links: includeLinks, selector, section } = asked;
  const fragment = selector === undefined ? fragmentOf(asked.url) : undefined;
  if (format === "metadata") {
    const page: Page | undefined = snapshot.isReadable
      ? await snapshot.page({ format: "auto", includeLinks, selector }, signal)
      : undefined;
    return { kind: "facts", facts: metadataOf(snapshot, page, budget) };
  }
  if (!snapshot.isReadable) return { kind: "file", snapshot };
  const page = await snapshot.page({ format, includeLinks, selector, section, fragment }, signal);
  const most = Math.min(asked.max_length, Math.max(1, budget - FRAME_CHARS));
  const piece = pieceOf(snapshot, page, asked.start_index, most);
  return { kind: "piece", snapshot, piece, isFirst: asked.start_index === 0 };
}

function fragmentOf(url: string): string | undefined {
  const hash = URL.canParse(url) ? new URL(url).hash.slice(1) : "";
  try {
    return hash === "" ? undefined : decodeURIComponent(hash);
  } catch {
    return hash;
  }
}
