import type { ErrorKind } from "@refmcp/core/answer";
import type { Diff, DiffWork } from "../edit/diff.ts";
import type { EditedBytes, EditWork } from "../edit/edit-bytes.ts";
import type { Extract, ExtractRequest } from "../search/line-extract.ts";
import type { TextPattern } from "../search/text-pattern.ts";

/** What a scanning worker is asked for: plain data. */
export type ThreadRequest =
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
    }
  | { readonly kind: "edit"; readonly edit: EditWork }
  | { readonly kind: "diff"; readonly diff: DiffWork }
  | { readonly kind: "pdf"; readonly path: string; readonly bytes: Uint8Array };

/** For "count" one number per path. `refusal` is a ToolError as plain data. */
export type ThreadAnswer =
  | { readonly counts: readonly number[] }
  | { readonly extract: Extract }
  | { readonly edited: EditedBytes }
  | { readonly diff: Diff }
  | { readonly pdf: { readonly text: string; readonly pages: number } }
  | {
      readonly refusal: {
        readonly kind: ErrorKind;
        readonly message: string;
        readonly hint: string | undefined;
      };
    };
