/** What one revision of the protocol has and the others have not. A new one is based on the one before. */
export interface Revision {
  readonly version: string;
  /**
   * `legacy`: opened by a handshake, and the server may send requests. `modern`: every request is
   * independent.
   */
  readonly era: "legacy" | "modern";
  /** JSON-RPC batches. */
  readonly batches: boolean;
  /** How an error names a request whose id is unknown: by `null` (JSON-RPC 2.0), or by no member at all (the schema). */
  readonly unknownId: "null" | "absent";
  /** Audio blocks. */
  readonly audio: boolean;
  /** `resource_link` blocks. */
  readonly links: boolean;
  readonly structuredContent: boolean;
  /** What the server may ask the user: nothing, forms, or forms and URLs, each named by its mode. */
  readonly elicitation: "none" | "forms" | "modes";
  /** Tools in sampling requests. */
  readonly samplingTools: boolean;
  /** Icons of servers and tools. */
  readonly icons: boolean;
  /** A stream of events may begin with an event without data, so that it can be resumed from its beginning. */
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

/** A connection of the legacy era on which no `initialize` agreed on a revision: the newest, but for unknown ids. */
export const UNDECIDED: Revision = { ...FIFTH, version: "", unknownId: "null" };

/** @throws TypeError for a version that this server does not speak. */
export function revisionOf(version: string): Revision {
  const revision = REVISIONS.get(version);
  if (revision === undefined) throw new TypeError(`unknown protocol revision ${version}`);
  return revision;
}

/** The revision that `initialize` agrees on: the requested one, or the newest with a handshake. */
export function agreedRevision(requested: unknown): Revision {
  const version = LEGACY_VERSIONS.find((one) => one === requested) ?? LEGACY_VERSIONS.at(-1) ?? "";
  return revisionOf(version);
}
