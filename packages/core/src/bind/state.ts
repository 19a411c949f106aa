import { randomBytes } from "node:crypto";
import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";

/** What travels through the client between the rounds of one call. */
const roundState = z.object({
  /** Digest of the call that the answers belong to. */
  subject: z.string(),
  answers: z.record(z.string(), z.unknown()),
});
export type RoundState = z.output<typeof roundState>;

/** Seals and reads `requestState` (MCP 2026-07-28, multi round-trip requests: it MUST be integrity-protected). */
export interface StateCodec {
  mint(state: RoundState, context: ServerContext): Promise<string>;
  /** For the SDK's `requestState.verify`. */
  verify(text: string, context: ServerContext): Promise<unknown>;
  /** The verified state of the current round, if it carries one. */
  read(context: ServerContext): RoundState | undefined;
}

/** A codec bound to the request's method and to who sent it, valid for ten minutes. */
export function createStateCodec(key: Uint8Array = randomBytes(32)): StateCodec {
  const codec = createRequestStateCodec<RoundState>({ key, bind: sender });
  return {
    mint: (state, context) => codec.mint(state, context),
    verify: (text, context) => codec.verify(text, context),
    read: (context) => roundState.safeParse(context.mcpReq.requestState()).data,
  };
}

function sender({ mcpReq, http }: ServerContext): string {
  const { clientId, extra } = http?.authInfo ?? {};
  return JSON.stringify([mcpReq.method, extra?.subject, clientId]);
}
