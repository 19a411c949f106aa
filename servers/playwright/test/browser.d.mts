/** A browser's program. */
export interface BroughtBrowser {
  readonly executablePath: string;
}

export class NoBrowser extends Error {}

export function ensureBrowser(parts?: {
  readonly say?: (line: string) => void;
}): Promise<BroughtBrowser>;

export function browserVariables(): Record<string, string>;
