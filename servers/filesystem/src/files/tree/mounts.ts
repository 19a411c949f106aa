import { readFile } from "node:fs/promises";
import { sep } from "node:path";
import { ToolError } from "@refmcp/core/answer";
import type { PathGuard } from "@refmcp/core/boundary";

/** The fifth field of proc_pid_mountinfo(5), where spaces and their kin are written in octal. */
export function mountPoints(table: string): string[] {
  const points: string[] = [];
  for (const line of table.split("\n")) {
    const field = line.split(" ")[4];
    if (field === undefined) continue;
    points.push(
      field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    );
  }
  return points;
}

/** Mount points below `realPath` that no walk may enter: `/proc` and its kin, wherever they are mounted. */
export async function forbiddenMounts(guard: PathGuard, realPath: string): Promise<ReadonlySet<string>> {
  const forbidden = new Set<string>();
  // Systems other than Linux have no such table.
  const table = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  const begin = realPath.endsWith(sep) ? realPath : realPath + sep;
  for (const point of mountPoints(table)) {
    if (!point.startsWith(begin) || point === begin) continue;
    try {
      await (await guard.openDirectory(point)).close();
    } catch (error) {
      // A file can be mounted as well; it is not a directory and not walked into.
      if (error instanceof ToolError && error.kind === "denied") forbidden.add(point);
    }
  }
  return forbidden;
}
