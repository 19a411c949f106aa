/** The longest URI that is looked at. */
export const MAX_URI_CHARS = 16_384;

/**
 * A client's URI with the characters that RFC 3986 does not allow percent-encoded: what goes back out must be a URI.
 */
export function asUri(text: string): string {
  return encodeURI(text.toWellFormed()).replaceAll("%25", "%");
}
