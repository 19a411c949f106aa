const CHANGES = ["open", "write", "writeFile", "copyFile", "rename", "link", "symlink", "unlink"];

/**
 * Options of Node.js for a process that kills itself (kill -9) right before the nth change that it makes to files, at any
 * speed of the machine.
 *
 * @param names of the functions of node:fs that count
 */
export function killedAtChange(nth: number, names: readonly string[] = CHANGES): string[] {
  const code = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    let left = ${nth};
    const isReading = (flags = "r") =>
      typeof flags === "number" ? (flags & 3) === fs.constants.O_RDONLY : !/[wa+]/.test(flags);
    const handle = await fs.promises.open(process.execPath);
    await handle.close();
    for (const functions of [fs, fs.promises, Object.getPrototypeOf(handle)])
      for (const name of ${JSON.stringify(names.flatMap((name) => [name, `${name}Sync`]))}) {
        const change = functions[name];
        if (change === undefined) continue;
        functions[name] = function (...given) {
          if (!(name.startsWith("open") && isReading(given[1])) && --left === 0)
            process.kill(process.pid, "SIGKILL");
          return change.apply(this, given);
        };
      }
    syncBuiltinESMExports();`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}
