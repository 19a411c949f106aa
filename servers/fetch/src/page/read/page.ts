/** How a page is requested, and what is read of it. */
import type { Metadata } from "../convert/metadata.ts";

/** How a page is presented. */
export interface View {
  /**
   * auto: HTML as Markdown, feeds and sitemaps as lists, anything else unchanged; links: only the links of HTML; data: the
   * structured data and tables of HTML, the fields of feeds.
   */
  readonly format: "auto" | "markdown" | "text" | "html" | "json" | "links" | "data";
  readonly selector?: string | undefined;
  /** A heading; returns only the content under it. */
  readonly section?: string | undefined;
  /** The URL's fragment, which selects a part of the page unless `section` or `selector` is given. */
  readonly fragment?: string | undefined;
  readonly includeLinks: boolean;
}

/** A page as text. */
export interface Page extends Metadata {
  readonly text: string;
  /** How the text was extracted. */
  readonly extractor: string;
  readonly needsJavascript: boolean;
  /** Whether its lines are rows or items, between which pieces end. */
  readonly hasRows?: boolean;
  readonly hasHidden?: boolean;
  /** Why the conversion failed. */
  readonly reason?: string | undefined;
  /** Pages of a PDF. */
  readonly pages?: number | undefined;
  /** What the URL's fragment selected: its heading, otherwise the fragment. */
  readonly section?: string | undefined;
  /** If the fragment points to nothing: similar names. */
  readonly similar?: readonly string[] | undefined;
  /** What was not used of the request, or matched otherwise. */
  readonly notes?: readonly string[] | undefined;
}
