import { readFileSync } from "node:fs";
import { fieldsAt, REVISIONS, type Revision } from "../protocol/revisions.ts";

/** A host's first messages to a server, line by line, as publicly documented. */
export interface RecordedHost {
  /** Its name for `--print-config`. */
  readonly host: string;
  readonly version: string;
  /** Where the lines are documented. */
  readonly sources: readonly string[];
  /** What is special about it. */
  readonly note?: string;
  /** The working directory in which it starts a server, if known. */
  readonly cwd?: string;
  /** The raw lines on the wire; the host waits for the answer to a probe and to `initialize`. */
  readonly opening: readonly [string, ...string[]];
  /** `_meta` of a tool call, if the host sends one. */
  readonly callMeta?: Readonly<Record<string, unknown>>;
}

/**
 * The hosts, with older versions before the latest if they differ on the wire. Every `initialize` is from a source, unless its
 * note says otherwise; a request that a source only mentions is written like the client's others. The table of abilities in
 * docs/hosts.md is generated from the same file.
 */
export const RECORDED: readonly RecordedHost[] = JSON.parse(
  readFileSync(new URL("openings.json", import.meta.url), "utf8"),
);

/** The revision that the host's `initialize` asks for. */
export function revisionOf({ host, opening }: RecordedHost): Revision {
  const initialize = opening.find((line) => JSON.parse(line).method === "initialize");
  const { protocolVersion } = fieldsAt(JSON.parse(initialize ?? "{}"), "params");
  const revision = REVISIONS.find((known) => known === protocolVersion);
  if (revision === undefined) throw new Error(`${host} asks for ${String(protocolVersion)}.`);
  return revision;
}
