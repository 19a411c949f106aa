import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Each order starts a process, which starts the server and stops it. */
export async function connect({ url, command, args, env }, script) {
  const variables = Object.entries(env ?? {}).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  const server = url ? [url, "--transport", "http"] : [...variables, command, ...args];
  async function ask(signal, ...method) {
    const line = [script, "--cli", ...server, "--format", "json", ...method];
    const { stdout } = await promisify(execFile)(process.execPath, line, {
      signal,
      maxBuffer: 2 ** 26,
    }).catch(
      // A tool's error makes it exit with 5, after printing the result.
      (error) => (error.stdout ? error : Promise.reject(error)),
    );
    return JSON.parse(stdout).result;
  }
  return {
    list: async () =>
      (await ask(undefined, "--method", "tools/list")).tools.map(({ name }) => name),
    call: (name, args, { signal }) =>
      ask(
        signal,
        "--method",
        "tools/call",
        "--tool-name",
        name,
        "--tool-args-json",
        JSON.stringify(args),
      ),
    close() {},
  };
}
