import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage<string | undefined>();

/** `version-traceid-parentid-flags`; all zeros are invalid (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

/**
 * Runs work of a request within the trace that its `_meta.traceparent` names (MCP, OpenTelemetry conventions), so
 * that log lines say which request they belong to; without a valid one it runs in none, also if the caller is in one.
 * The first trace makes every promise of the process cost more (Node 20), so without one nothing is entered.
 */
export function withTrace(
  params: { readonly _meta?: Readonly<Record<string, unknown>> },
  work: () => void,
): void {
  const given = params._meta?.traceparent;
  const found = typeof given === "string" ? TRACEPARENT.exec(given) : null;
  if (found !== null) current.run(`trace_id=${found[1]} span_id=${found[2]}`, work);
  else if (current.getStore() === undefined) work();
  else current.exit(work);
}

/** What a log line says of the request that it belongs to; undefined without a trace. */
export function traceNote(): string | undefined {
  return current.getStore();
}
