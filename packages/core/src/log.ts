import { traceNote } from "./trace.ts";

/** The levels of `--log-level`, from most to least talkative. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes lines for people to stderr; stdout belongs to the protocol. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string): void;
}

/**
 * A log that writes `name level: message`, one line each, from `level` up. Within a traced request (`withTrace`) the
 * message begins with `trace_id=… span_id=…`.
 *
 * @param write receives whole lines; default: stderr.
 */
export function createLog(
  name: string,
  level: LogLevel,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  const at = (own: LogLevel) => (message: string) => {
    if (LOG_LEVELS.indexOf(own) < threshold) return;
    const note = traceNote();
    write(`${name} ${own}: ${note === undefined ? "" : `${note} `}${message.trimEnd()}\n`);
  };
  return { debug: at("debug"), info: at("info"), warning: at("warning"), error: at("error") };
}
