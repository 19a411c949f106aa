import { AsyncLocalStorage } from "node:async_hooks";
import { clip, manyLines } from "@refmcp/boundary/answer";

/** The levels of `--log-level`, from most to least verbose. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Maximum length of a message, which may repeat what a client sent. */
const MAX_LINE_CHARS = 20_000;

/** Writes lines for people to stderr; stdout belongs to the protocol. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string): void;
}

/**
 * Creates a log that writes lines `name level: message` from `level` up. In a traced request (`withTrace`), the message
 * begins with `trace_id=… span_id=…`.
 *
 * @param write receives complete lines; default: stderr.
 */
export function createLog(
  name: string,
  level: LogLevel,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  const at = (own: LogLevel) => (message: string) => {
    if (LOG_LEVELS.indexOf(own) < threshold) return;
    const note = current.getStore();
    write(
      `${name} ${own}: ${note === undefined ? "" : `${note} `}${manyLines(clip(message, MAX_LINE_CHARS).trimEnd())}\n`,
    );
  };
  return { debug: at("debug"), info: at("info"), warning: at("warning"), error: at("error") };
}

/** The part of a log line that identifies its request; undefined without a trace. */
const current = new AsyncLocalStorage<string | undefined>();

/** `version-traceid-parentid-flags`; all zeros are invalid (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

/**
 * Runs a request's work in the trace given by its `_meta.traceparent` (MCP, OpenTelemetry conventions), so that log
 * lines identify the request. Without a valid one it runs outside any trace, even if the caller is in one. The first
 * trace makes every promise of the process more expensive (Node.js 20), so without traces no context is entered.
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
