import { beforeAll, describe, expect, it } from "vitest";
import { CAPABILITIES, requestWriter } from "./client.ts";
import { conversation } from "./conversation.ts";
import { keyOf } from "./exchange.ts";
import { type Case, type Outcome, RESULT, type Writer } from "./malformed-case.ts";
import { badEnvelopes, badIds, badMeta, modernMeta, nullMeta } from "./malformed-envelope.ts";
import {
  badParameters,
  legacyParameters,
  modernParameters,
  nullParameters,
  strangeResponses,
} from "./malformed-params.ts";
import { badBytes, badJson, notMessages } from "./malformed-text.ts";
import { probeLauncher } from "./probe.ts";
import type { Recorder } from "./recorder.ts";
import { type Fields, fieldsAt, MODERN, type Revision } from "./revisions.ts";

/** A summary of the responses to a line. */
interface Replies {
  /** The codes of errors that name no request. */
  readonly refused: unknown[];
  /** The codes of answers to the line's own id; a result has none. */
  readonly answered: unknown[];
}

/** Sends a line with everything that belongs to it, and waits until the server has handled it. */
async function sent(
  recorder: Recorder,
  line: string | Uint8Array,
  outcome: Outcome,
): Promise<Replies> {
  const from = recorder.messages.length;
  const isOwn = (message: Fields): boolean =>
    outcome.kind === "answered" &&
    !("method" in message) &&
    keyOf(message.id) === keyOf(outcome.message.id);
  if (outcome.kind === "answered") recorder.expect(outcome.message);
  recorder.write(line);
  if (outcome.kind === "answered") await recorder.find(isOwn, from);
  await recorder.alive();
  const since = recorder.messages.slice(from).filter((message) => !("method" in message));
  const codes = (messages: Fields[]) => messages.map((message) => fieldsAt(message, "error").code);
  return {
    refused: codes(since.filter(({ id }) => id === undefined || id === null)),
    answered: codes(since.filter(isOwn)),
  };
}

/** Lines that no well-behaved client writes, with the expected response in this revision. */
function malformedLines(revision: Revision, write: Writer): Case[] {
  const era = revision === MODERN ? [modernMeta, modernParameters] : [legacyParameters];
  const groups = [
    ...[badJson, badBytes, notMessages, badEnvelopes, badIds, badMeta, nullMeta],
    ...[badParameters, nullParameters, strangeResponses, ...era],
  ];
  return groups.flatMap((group) => group(write, revision));
}

/** Tests that malformed input gets the response that each of these revisions wants. */
export function testMalformed(revisions: readonly Revision[]): void {
  const launch = probeLauncher();

  describe.each(revisions)("%s, malformed input", (revision) => {
    const talk = conversation(() => launch("--roots", "off"), revision);
    let ids = 0;
    const write = requestWriter(revision, CAPABILITIES[revision], () => {
      ids += 1;
      return `line ${ids}`;
    });

    beforeAll(async () => {
      // A modern client that has only probed might still continue in the legacy era.
      await talk.recorder.request("tools/list");
    });

    it.each(malformedLines(revision, write))("$name", async ({ line, outcome }) => {
      const replies = await sent(talk.recorder, line, outcome);
      if (outcome.kind === "refused") {
        expect(replies.refused).toEqual(Array.from({ length: outcome.count }, () => outcome.code));
      } else {
        expect(replies.refused).toEqual([]);
      }
      if (outcome.kind === "answered") {
        const { code } = outcome;
        expect(replies.answered).toEqual([
          code === RESULT ? undefined : (code ?? replies.answered[0]),
        ]);
      }
    });
  });
}
