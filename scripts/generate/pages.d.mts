/** A page's text with its marked parts replaced. */
export function filled(text: string, parts: Record<string, string>, page: string): string;
