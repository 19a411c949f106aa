import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";

/**
 * The absolute path of `git` on the PATH. Relative entries are skipped: they, and on Windows the working directory, could
 * contain a program that came with a repository.
 *
 * @throws ToolError `unavailable`, code `git_missing`
 */
export async function findGit(env: NodeJS.ProcessEnv, platform: string = process.platform): Promise<string> {
  const windows = platform === "win32";
  const path = env.PATH ?? env.Path ?? "";
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const file = join(directory, windows ? "git.exe" : "git");
    try {
      if (!(await stat(file)).isFile()) continue;
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here, or not executable.
    }
  }
  throw new ToolError("unavailable", "git was not found on the PATH.", {
    code: "git_missing",
    hint: "Install git 2.37 or newer, or add its directory to the PATH of the server's entry in the host.",
  });
}
