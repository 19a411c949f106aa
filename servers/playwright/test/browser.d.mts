import type { aptInstall } from "../../../scripts/lib/apt.mjs";

/** A browser's program. */
export interface BroughtBrowser {
  readonly executablePath: string;
}

export class NoBrowser extends Error {}

export function ensureBrowser(parts?: {
  readonly say?: (line: string) => void;
  readonly find?: () => Promise<string | undefined>;
  readonly apt?: typeof aptInstall;
  readonly download?: (say: (line: string) => void) => Promise<string | undefined>;
}): Promise<BroughtBrowser>;

export function browserVariables(): Record<string, string>;
