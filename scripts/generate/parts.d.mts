/** The generated parts of all pages that people wrote: page → name of the part → text. */
export function pageParts(
  servers: readonly object[],
  state: { published: boolean },
): Promise<Record<string, Record<string, string>>>;
