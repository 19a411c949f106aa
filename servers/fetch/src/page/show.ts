import type { Call, Content } from "@refmcp/core";
import { sized } from "@refmcp/core/answer";
import { metadataOf, pieceOf } from "./piece.ts";
import type { Snapshot, View } from "./snapshot.ts";
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

/** What hosts show of an image, in bytes. */
const MOST_IMAGE_BYTES = 1_000_000;
const SHOWN_IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Characters of an answer that are ours. */
const FRAME_CHARS = 800;

/**
 * Fetches a page and shows a piece of it: "Contents of …" with the piece, then our line in a block of its own, so that
 * nothing in a page can pass for it. Images are shown, other files are described and linked.
 */
export async function showPage(
  web: Web,
  asked: Asked,
  call: Pick<Call, "signal" | "budget">,
): Promise<Content[]> {
  // A later piece belongs to the download of the first, however old that is.
  const maxAgeMs = asked.start_index > 0 ? undefined : asked.max_age * 1_000;
  const snapshot = await web.get(asked.url, {
    signal: call.signal,
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  });
  const { format, include_links: includeLinks, selector, section } = asked;
  if (format === "metadata") {
    const hasText = snapshot.isText || snapshot.body.kind === "pdf";
    const view = { format: "auto" as const, includeLinks, selector };
    const page = hasText ? await snapshot.page(view, call.signal) : undefined;
    return [{ type: "text", text: JSON.stringify(metadataOf(snapshot, page, call.budget)) }];
  }
  if (!snapshot.isText && snapshot.body.kind !== "pdf") return fileContent(snapshot);
  const page = await snapshot.page({ format, includeLinks, selector, section }, call.signal);
  const most = Math.min(asked.max_length, Math.max(1, call.budget - FRAME_CHARS));
  const { head, text, foot } = pieceOf(snapshot, page, asked.start_index, most);
  const about = asked.start_index === 0 ? `${head}\n\n` : "";
  return [
    { type: "text", text: `Contents of ${snapshot.answer.url.href}:\n${about}${text}` },
    { type: "text", text: foot },
  ];
}

/** A picture to look at, or a link with what is known of the file. */
export function fileContent(snapshot: Snapshot): Content[] {
  const { answer, body, uri } = snapshot;
  const { href } = answer.url;
  const size = answer.body.length;
  if (SHOWN_IMAGES.includes(body.mimeType) && size <= MOST_IMAGE_BYTES && !answer.isCut)
    return [
      { type: "image", data: answer.body.toString("base64"), mimeType: body.mimeType },
      { type: "text", text: `[${href} | ${body.mimeType} | ${sized(size)} | Kept as ${uri}/raw]` },
    ];
  const name = decodeName(answer.url);
  return [
    { type: "resource_link", uri: `${uri}/raw`, name, mimeType: body.mimeType, size },
    {
      type: "text",
      text: `[${href} has no text: ${body.mimeType}, ${sized(size)}. Its bytes are the resource ${uri}/raw]`,
    },
  ];
}

function decodeName(url: URL): string {
  const last = url.pathname.split("/").findLast((part) => part !== "") ?? url.host;
  try {
    return decodeURIComponent(last).slice(0, 200);
  } catch {
    return last.slice(0, 200);
  }
}
