import { Writable } from "node:stream";

let taken: Writable | undefined;

/**
 * Takes the process's stdout for the protocol: the returned stream is the only one that still writes to it.
 * `process.stdout.write` and `.end`, and with them `console.log`, `console.info` and `console.debug`, go to stderr
 * from now on, so that no library can break a line of JSON-RPC.
 *
 * Call it before anything else runs. It cannot stop what goes around the stream: `fs.writeSync(1, …)`, native code,
 * or a child process that inherits stdout.
 *
 * A broken stdout makes the returned stream emit `error` (EPIPE). A broken stderr is ignored: logging is no
 * reason to fail.
 *
 * @returns the same stream on every call.
 */
export function protectStdout(): Writable {
  if (taken !== undefined) return taken;
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const protocol = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, callback) {
      if (typeof chunk === "string") write(chunk, encoding, callback);
      else write(chunk, callback);
    },
  });
  stdout.on("error", (error) => protocol.destroy(error));
  stderr.on("error", () => undefined);
  const redirected = stderr.write.bind(stderr);
  Object.defineProperties(stdout, {
    write: { configurable: true, writable: true, value: redirected },
    end: { configurable: true, writable: true, value: endInstead },
  });
  taken = protocol;
  return protocol;
}

/** `stdout.end(…)` called by other code: writes to stderr, and ends nothing. */
function endInstead(...args: unknown[]): NodeJS.WriteStream {
  const [chunk] = args;
  if (typeof chunk === "string" || chunk instanceof Uint8Array) process.stderr.write(chunk);
  const callback = args.at(-1);
  if (typeof callback === "function") process.nextTick(() => callback());
  return process.stdout;
}
