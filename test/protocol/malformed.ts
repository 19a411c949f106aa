import type { Case, Writer } from "./malformed-case.ts";
import { badEnvelopes, badIds, badMeta, modernMeta, nullMeta } from "./malformed-envelope.ts";
import {
  badParameters,
  legacyParameters,
  modernParameters,
  nullParameters,
  strangeResponses,
} from "./malformed-params.ts";
import { badBytes, badJson, notMessages } from "./malformed-text.ts";
import { MODERN, type Revision } from "./revisions.ts";

/** Lines that no well-behaved client writes, with the expected response in this revision. */
export function malformedLines(revision: Revision, write: Writer): Case[] {
  const era = revision === MODERN ? [modernMeta, modernParameters] : [legacyParameters];
  const groups = [
    badJson,
    badBytes,
    notMessages,
    badEnvelopes,
    badIds,
    badMeta,
    nullMeta,
    badParameters,
    nullParameters,
    strangeResponses,
    ...era,
  ];
  return groups.flatMap((group) => group(write, revision));
}
