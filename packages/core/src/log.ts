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
 * A log that writes `name level: message`, one line each, from `level` up.
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
    if (LOG_LEVELS.indexOf(own) >= threshold) write(`${name} ${own}: ${message.trimEnd()}\n`);
  };
  return { debug: at("debug"), info: at("info"), warning: at("warning"), error: at("error") };
}
