export class NoBrowser extends Error {}

export function ensureBrowser(parts?: {
  readonly say?: (line: string) => void;
}): Promise<{ readonly executablePath: string }>;

export function browserVariables(): Record<string, string>;
