import { readSync } from "node:fs";
import { DocumentError, documentText } from "@refmcp/documents";
import type { DocumentKind } from "@refmcp/documents/kinds";
import { failure, named } from "../errors.ts";

export interface DocumentWork {
  /** A descriptor of this process; the caller keeps it open until the answer. */
  readonly fd: number;
  readonly size: number;
  readonly path: string;
  readonly document: DocumentKind;
}

export interface ConvertedDocument {
  readonly text: string;
  /** Its pages, sheets or messages, each with the number of the line that names it. */
  readonly parts: readonly { readonly name: string; readonly line: number }[];
}

/**
 * Converts a document to text; runs in a thread.
 *
 * @throws ToolError `invalid` for one that is damaged, encrypted or too large
 */
export async function convertDocument({ fd, size, path, document }: DocumentWork) {
  const read = (position: number, length: number) => {
    const buffer = Buffer.allocUnsafe(Math.max(0, length));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, position));
  };
  try {
    const { text, parts } = await documentText({ size, read }, document);
    return { text, parts };
  } catch (cause) {
    if (!(cause instanceof DocumentError)) throw cause;
    throw failure("bad_document", `${named(path)} cannot be read: ${cause.message}.`, { cause });
  }
}
