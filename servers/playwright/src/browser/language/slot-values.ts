import type {
  Absence,
  Assertion,
  DIRECTIONS,
  FillValue,
  NetworkSpeed,
  NumberComparison,
  Point,
  Reply,
  RequestPattern,
  Severity,
  State,
  StatusRange,
  Target,
  TextComparison,
  TIMES,
} from "./ast.ts";

/** The values of the slots in forms, by the kind of slot. */
export interface SlotValues {
  readonly target: Target;
  /** One that is named by its text alone, also without quotes. */
  readonly clickable: Target;
  readonly field: Target;
  /** A field that people compare with a value: `field 'Email' contains 'x'`. */
  readonly filled: Target;
  /** A checkbox, radio button or switch. */
  readonly box: Target;
  /** What people see: also named by its text alone, without quotes. */
  readonly seen: Target;
  /** What opens and closes above the page. */
  readonly popup: Target;
  /** Any other, whose text is compared. */
  readonly texted: Target;
  readonly targets: readonly Target[];
  readonly text: string;
  /** One that must be in quotes. */
  readonly quoted: string;
  readonly texts: readonly string[];
  readonly value: FillValue;
  /** In quotes. */
  readonly given: FillValue;
  readonly givens: readonly string[];
  readonly compare: TextComparison;
  /** Also without quotes after `is`. */
  readonly compared: TextComparison;
  /** A text that it is not. */
  readonly unwanted: TextComparison;
  /** A text that is contained. */
  readonly contained: TextComparison;
  /** The beginning of a path, which the URL contains. */
  readonly urlPart: TextComparison;
  /** `the Login page`, by its title. */
  readonly pageName: TextComparison;
  /** `the login page`, by its URL. */
  readonly pageSlug: TextComparison;
  readonly wanted: TextComparison;
  readonly number: NumberComparison;
  /** True for `is not`. */
  readonly be: boolean;
  /** True for `exists`. */
  readonly exists: boolean;
  readonly state: State;
  readonly page: "title" | "url";
  readonly attribute: string;
  /** One that needs no `attribute` before it. */
  readonly known: string;
  readonly absence: Absence;
  readonly severity: Severity;
  readonly time: (typeof TIMES)[number];
  readonly range: StatusRange;
  readonly request: RequestPattern;
  /** One that is clearly a URL. */
  readonly endpoint: RequestPattern;
  readonly glob: string;
  readonly url: string;
  /** One that is clearly a URL, or a page of the site. */
  readonly address: string;
  readonly reply: Extract<Reply, { readonly status: number }>;
  readonly duration: number;
  readonly size: number;
  readonly decimal: number;
  readonly percent: number;
  readonly position: number;
  /** Of a request, from 1. */
  readonly nth: number;
  readonly key: string;
  readonly edge: "top" | "bottom";
  readonly direction: keyof typeof DIRECTIONS;
  readonly pixels: number;
  readonly point: Point;
  readonly header: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly place: { readonly latitude: number; readonly longitude: number };
  readonly permission: string;
  readonly zone: string;
  readonly locale: string;
  readonly clock: string;
  readonly rate: number;
  readonly speed: NetworkSpeed;
  readonly savedState: string;
  readonly baseline: string;
  readonly assertion: Assertion;
  readonly awaited: Assertion;
}
