import type { Fields } from "./revisions.ts";

/** A request of the client and its outcome. */
export interface Exchange {
  readonly id: unknown;
  readonly method: string;
  readonly params: Fields;
  /** How many answers are expected: one for each time the id was sent. */
  due: number;
  /** The last progress that was notified. */
  progress: number;
  /** Of `subscriptions/listen`: what the server agreed to. */
  filter?: Fields;
}

/** An id or token as a key: the number 1 and the string "1" differ. */
export function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? "";
}

/** A URI as a key: with the characters that RFC 3986 does not allow percent-encoded. */
export function uriKey(uri: unknown): string {
  return encodeURI(String(uri).toWellFormed()).replace(/%25(?=[0-9a-f]{2})/gi, "%");
}
