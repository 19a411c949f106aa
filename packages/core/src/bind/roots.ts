import type { Server } from "@modelcontextprotocol/server";
import type { DirectoryBound } from "../boundary/directories.ts";
import type { Log } from "../log.ts";
import type { Asking } from "./asking.ts";

/** How long a legacy client may take to tell its roots before calls go on without them. */
const LEGACY_ANSWER_MS = 5_000;
/** How long roots of a modern client are believed; it has no way to say that they changed. */
const MODERN_TTL_MS = 10 * 60_000;

/** Keeps the bound in step with the client's roots. */
export interface ClientRoots {
  /** Called before each call: waits for roots that are on their way, or asks for them. */
  settle(asking: Asking): Promise<void>;
}

/** For servers that touch no directories, and for remote clients, whose roots mean nothing here. */
export const noRoots: ClientRoots = { settle: () => Promise.resolve() };

/** Legacy era: `roots/list` once the client is initialised and whenever it says that they changed. */
export function legacyRoots(server: Server, bound: DirectoryBound, log: Log): ClientRoots {
  let fetched: Promise<void> | undefined;
  const fetch = async (): Promise<void> => {
    if (server.getClientCapabilities()?.roots === undefined) return;
    try {
      const { roots } = await server.listRoots(undefined, { timeout: LEGACY_ANSWER_MS });
      for (const note of bound.setClientRoots(roots)) log.warning(note);
    } catch (error) {
      log.warning(
        `The client did not tell its roots: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  server.oninitialized = () => {
    fetched = fetch();
  };
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    fetched = fetch();
  });
  return {
    async settle() {
      await fetched;
    },
  };
}

/** Modern era: asked within a call (`input_required`), once per process and again after the time to live. */
export function modernRoots(bound: DirectoryBound, log: Log): ClientRoots {
  let believedUntil = 0;
  return {
    async settle(asking) {
      if (Date.now() < believedUntil) return;
      const roots = asking.roots();
      believedUntil = Date.now() + MODERN_TTL_MS;
      for (const note of bound.setClientRoots(roots)) log.warning(note);
    },
  };
}
