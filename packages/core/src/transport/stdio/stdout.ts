import { Writable } from "node:stream";

let protocol: Writable | undefined;

/**
 * Reserves the process's stdout for the protocol: only the returned stream still writes to it. `process.stdout.write`
 * and `.end`, and so `console.log`, `console.info` and `console.debug`, write to stderr from now on, so no library can
 * corrupt the JSON-RPC lines.
 *
 * Call it before anything else runs. It cannot stop writes that bypass the stream: `fs.writeSync(1, …)`, native code,
 * or a child process that inherits stdout.
 *
 * If stdout breaks, the returned stream emits `error` (EPIPE). A broken stderr is ignored, since a failure to log must
 * not end the server.
 *
 * @returns the same stream on every call.
 */
export function protectStdout(): Writable {
  if (protocol !== undefined) return protocol;
  const { stdout, stderr } = process;
  const output = new Writable({ decodeStrings: false, write: stdout.write.bind(stdout) });
  stdout.on("error", (error) => output.destroy(error));
  stderr.on("error", () => undefined);
  /** Writes to stderr without ending it. */
  const end = (...args: unknown[]): NodeJS.WriteStream => {
    const [chunk] = args;
    if (typeof chunk === "string" || chunk instanceof Uint8Array) stderr.write(chunk);
    const callback = args.at(-1);
    if (typeof callback === "function") process.nextTick(() => callback());
    return stdout;
  };
  Object.defineProperties(stdout, {
    write: { configurable: true, writable: true, value: stderr.write.bind(stderr) },
    end: { configurable: true, writable: true, value: end },
  });
  protocol = output;
  return output;
}
