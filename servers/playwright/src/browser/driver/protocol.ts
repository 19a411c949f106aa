import { ToolError } from "@refmcp/boundary/answer";
import type { Upload } from "../page/downloads.ts";
import type { NetworkRules } from "../policy.ts";
import type { RunsPlace } from "../store/disk.ts";
import type { LinkScheme } from "../store/runs.ts";
import type { LaunchOptions } from "./launch.ts";

export interface DriverOptions {
  /** Without the environment, which the process has. */
  readonly launch: Omit<LaunchOptions, "env">;
  readonly rules: NetworkRules;
  readonly runsPlace: RunsPlace;
  readonly links: LinkScheme;
  readonly ignoreHttpsErrors: boolean;
  /** Maximum pages at the same time. */
  readonly concurrency: number;
}

/** An error as sent between processes. */
export type Failed = Pick<ToolError, "message"> &
  Partial<Pick<ToolError, "kind" | "hint" | "code" | "data" | "stack">>;

export type Order =
  | { readonly open: DriverOptions }
  /** `endsAt`: as `Date.now()`, which is the same in both processes; the driver may still be starting. */
  | {
      readonly id: number;
      readonly method: string;
      readonly params: unknown;
      readonly endsAt: number;
    }
  | { readonly id: number; readonly abort: Failed }
  | { readonly asked: number; readonly upload: Upload }
  | { readonly asked: number; readonly failed: Failed };

export type Reply<Value = never> =
  | { readonly id: number; readonly value: Value; readonly rss: number }
  | { readonly id: number; readonly failed: Failed; readonly rss: number }
  | { readonly id: number; readonly progress: [done: number, total?: number, note?: string] }
  | { readonly ask: number; readonly path: string }
  /** The browser has ended, hangs or did not start. */
  | { readonly unfit: true }
  | { readonly log: string };

export function packed(error: unknown): Failed {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  if (!(error instanceof ToolError)) return { message, ...(stack === undefined ? {} : { stack }) };
  const { kind, hint, code, data } = error;
  return { message, kind, hint, code, data };
}

export function unpacked({ kind, message, stack, ...rest }: Failed): Error {
  if (kind !== undefined) return new ToolError(kind, message, rest);
  return Object.assign(new Error(message), { stack });
}
