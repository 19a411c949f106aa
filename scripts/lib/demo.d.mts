/** How a demo ended; see demo.mjs. */
export interface Outcome {
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly calls: number;
  readonly ms: number;
  readonly reason?: string;
  readonly required?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** What a demo is given. */
export interface Harness {
  readonly folder: string;
  readonly root: string;
  say(text: string): void;
  announce(text: string): void;
  check(what: string, holds: boolean): void;
  skip(reason: string, how?: { readonly required?: boolean }): never;
  connect(
    server: string,
    options?: { readonly era?: "legacy" | "modern"; readonly args?: readonly string[] },
  ): Promise<{ call(tool: string, given: Json, expected?: unknown): Promise<Json>; close(): Promise<void> }>;
}

export function play(
  name: string,
  module: { readonly title: string; demo(harness: Harness): Promise<void> },
  options?: { readonly verbose?: boolean; readonly announce?: (line: string) => void },
): Promise<Outcome>;
