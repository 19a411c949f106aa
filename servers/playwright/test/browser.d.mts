/** A browser's program, and the environment that it needs. */
export interface BroughtBrowser {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

export function bringBrowser(how?: {
  readonly bring?: "apt" | "npm" | "any";
  readonly say?: (line: string) => void;
}): Promise<BroughtBrowser>;
