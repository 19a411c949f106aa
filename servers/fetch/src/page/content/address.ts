/** Addresses in pages: relative URLs and fragments. */

/** An absolute URL of http or https, or undefined. */
export function webAddress(href: string | null | undefined, base: string): string | undefined {
  if (!href || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** A fragment without its percent-encoding. */
export function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
