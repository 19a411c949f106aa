/** A page, sheet, slide, message or chapter of a document, in one of three forms. */
export type DocumentPart = { readonly name: string } & (
  | { readonly html: string }
  /** The text of each cell, from A1 on. */
  | { readonly rows: readonly (readonly string[])[] }
  | { readonly text: string }
);

/** The content of a document, without pictures. */
export interface Document {
  /** What it is, for example `Word document`. */
  readonly label: string;
  /** What its parts are called; undefined if it always has one. */
  readonly unit?: string;
  readonly parts: readonly DocumentPart[];
  readonly facts?: DocumentFacts;
  /** What of it is in no part: `3 pictures`. */
  readonly notShown?: readonly string[];
}

/** A document's metadata, as the document gives it. */
export interface DocumentFacts {
  readonly title?: string | undefined;
  readonly creator?: string | undefined;
  readonly modified?: string | undefined;
}

/** Why a document cannot be read, as the end of a sentence: `it is password-protected`. */
export class DocumentError extends Error {}
