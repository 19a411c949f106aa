/** What one revision of the protocol has and the others have not. A new revision is a row here and what its row names. */
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

const ROWS = [
  // version       era       batches unknownId audio  links  structured elicitation samplingTools icons primingEvents
  ["2024-10-07", "legacy", false, "null", false, false, false, "none", false, false, false],
  ["2024-11-05", "legacy", false, "null", false, false, false, "none", false, false, false],
  ["2025-03-26", "legacy", true, "null", true, false, false, "none", false, false, false],
  ["2025-06-18", "legacy", false, "null", true, true, true, "forms", false, false, false],
  ["2025-11-25", "legacy", false, "absent", true, true, true, "modes", true, true, true],
  ["2026-07-28", "modern", false, "absent", true, true, true, "modes", true, true, false],
] as const;

export const REVISIONS: ReadonlyMap<string, Revision> = new Map(
  ROWS.map(
    ([
      version,
      era,
      batches,
      unknownId,
      audio,
      links,
      structuredContent,
      elicitation,
      tools,
      icons,
      priming,
    ]) => [
      version,
      {
        version,
        era,
        batches,
        unknownId,
        audio,
        links,
        structuredContent,
        elicitation,
        samplingTools: tools,
        icons,
        primingEvents: priming,
      },
    ],
  ),
);

const versionsOf = (era: Revision["era"]): readonly string[] =>
  ROWS.filter((row) => row[1] === era).map(([version]) => version);

export const LEGACY_VERSIONS = versionsOf("legacy");
export const MODERN_VERSIONS = versionsOf("modern");

/** A connection of the legacy era on which no `initialize` agreed on a revision: the newest, but for unknown ids. */
export const UNDECIDED: Revision = { ...revisionOf("2025-11-25"), version: "", unknownId: "null" };

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
