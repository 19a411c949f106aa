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
 * Creates a log that writes lines `name level: message` from `level` up.
 *
 * @param write receives complete lines; default: stderr.
 */
export function createLog(
  name: string,
  level: LogLevel,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  const writerFor = (messageLevel: LogLevel) => (message: string) => {
    if (LOG_LEVELS.indexOf(messageLevel) < threshold) return;
    write(`${name} ${messageLevel}: ${manyLines(clip(message, MAX_LINE_CHARS).trimEnd())}\n`);
  };
  return {
    debug: writerFor("debug"),
    info: writerFor("info"),
    warning: writerFor("warning"),
    error: writerFor("error"),
  };
}
