/** The features of a protocol revision. Each revision is based on the previous one. */
export interface Revision {
  readonly version: string;
  /**
   * `legacy`: opened by a handshake, and the server may send requests. `modern`: every request is
   * independent.
   */
  readonly era: "legacy" | "modern";
  /** JSON-RPC batches. */
  readonly batches: boolean;
  /** The id in an error if the request's id is unknown: `null` (JSON-RPC 2.0), or no member (the schema). */
  readonly unknownId: "null" | "absent";
  /** Audio blocks. */
  readonly audio: boolean;
  /** `resource_link` blocks. */
  readonly links: boolean;
  readonly structuredContent: boolean;
  /** What the server may ask the user: nothing, forms, or forms and URLs with a mode. */
  readonly elicitation: "none" | "forms" | "modes";
  /** Tools in sampling requests. */
  readonly samplingTools: boolean;
  /** Icons of servers. */
  readonly icons: boolean;
  /** Whether an event stream may begin with an event without data, from which it can be resumed. */
  readonly primingEvents: boolean;
}

const FIRST: Revision = {
  version: "2024-10-07",
  era: "legacy",
  batches: false,
  unknownId: "null",
  audio: false,
  links: false,
  structuredContent: false,
  elicitation: "none",
  samplingTools: false,
  icons: false,
  primingEvents: false,
};
const SECOND: Revision = { ...FIRST, version: "2024-11-05" };
const THIRD: Revision = { ...SECOND, version: "2025-03-26", batches: true, audio: true };
const FOURTH: Revision = {
  ...THIRD,
  version: "2025-06-18",
  batches: false,
  links: true,
  structuredContent: true,
  elicitation: "forms",
};
const FIFTH: Revision = {
  ...FOURTH,
  version: "2025-11-25",
  unknownId: "absent",
  elicitation: "modes",
  samplingTools: true,
  icons: true,
  primingEvents: true,
};
const SIXTH: Revision = { ...FIFTH, version: "2026-07-28", era: "modern", primingEvents: false };

const ALL = [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH];

export const REVISIONS: ReadonlyMap<string, Revision> = new Map(ALL.map((one) => [one.version, one]));

const versionsOf = (era: Revision["era"]): readonly string[] =>
  ALL.filter((one) => one.era === era).map(({ version }) => version);

export const LEGACY_VERSIONS = versionsOf("legacy");
export const MODERN_VERSIONS = versionsOf("modern");

/** For a legacy connection before `initialize` has agreed on a revision: the newest, except for unknown ids. */
export const UNDECIDED: Revision = { ...FIFTH, version: "", unknownId: "null" };

/** @throws TypeError for an unsupported version. */
export function revisionOf(version: string): Revision {
  const revision = REVISIONS.get(version);
  if (revision === undefined) throw new TypeError(`unknown protocol revision ${version}`);
  return revision;
}

/** The revision that `initialize` agrees on: the requested one if supported, otherwise the newest with a handshake. */
export function agreedRevision(requested: unknown): Revision {
  const version = LEGACY_VERSIONS.find((one) => one === requested) ?? LEGACY_VERSIONS.at(-1) ?? "";
  return revisionOf(version);
}
