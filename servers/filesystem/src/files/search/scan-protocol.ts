import type { Extract, ExtractRequest } from "./line-extract.ts";
import type { TextPattern } from "./text-pattern.ts";

/** What a scanning worker is asked for: plain data. */
export type ScanRequest =
  | {
      /** The matching lines of many files below a directory. */
      readonly kind: "count";
      readonly pattern: TextPattern;
      /** A path for fs calls on the directory, kept open by the asker. */
      readonly at: string;
      readonly realPath: string;
      /** Below the directory, with `/` between components. */
      readonly paths: readonly string[];
    }
  | {
      readonly kind: "extract";
      readonly pattern: TextPattern;
      /** Descriptors belong to the process; the asker keeps it open until the answer. */
      readonly fd: number;
      readonly extract: ExtractRequest;
    };

/** For "count" one number per path. */
export type ScanAnswer = { readonly counts: readonly number[] } | { readonly extract: Extract };
