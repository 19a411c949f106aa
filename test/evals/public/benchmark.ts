import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const SERVICES = ["filesystem", "postgres"] as const;
export type Service = (typeof SERVICES)[number];

/** A task of a checkout of MCPMark: the folder with its description.md, meta.json and verify.py. */
export interface PublicTask {
  /** The path below `tasks`, for example `postgres/easy/chinook/update_employee_info`. */
  readonly id: string;
  readonly service: Service;
  /** The name of its data: a folder of files, or a database. */
  readonly category: string;
  readonly folder: string;
  readonly prompt: string;
  /** Where its data can be downloaded, and its origin. */
  readonly dataUrls: readonly string[];
}

/** Why a task can't be run here; a skipped task reports it. */
export class Unavailable extends Error {}

const metadata = z.object({
  category_id: z.string(),
  meta_data: z
    .object({ stateUrl: z.string().nullish(), stateOriginalUrl: z.string().nullish() })
    .default({}),
});

/** The tasks of a checkout that fit our servers, sorted by id. */
export async function readTasks(checkout: string): Promise<PublicTask[]> {
  const tasks: PublicTask[] = [];
  for (const service of SERVICES) {
    const root = join(checkout, "tasks", service);
    if (!existsSync(root)) continue;
    for (const entry of await readdir(root, { recursive: true })) {
      const folder = join(root, entry, "..");
      if (!/(^|[\\/])verify\.py$/.test(entry) || !existsSync(join(folder, "description.md")))
        continue;
      tasks.push(await readTask(checkout, service, folder));
    }
  }
  if (tasks.length === 0)
    throw new Error(`No tasks in ${join(checkout, "tasks")}: is it a checkout of MCPMark?`);
  return tasks.sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function readTask(checkout: string, service: Service, folder: string): Promise<PublicTask> {
  const { category_id: category, meta_data } = metadata.parse(
    JSON.parse(await readFile(join(folder, "meta.json"), "utf8")),
  );
  const backup =
    service === "postgres" ? `https://storage.mcpmark.ai/postgres/${category}.backup` : undefined;
  const urls = [meta_data.stateUrl ?? backup, meta_data.stateOriginalUrl];
  return {
    id: folder.slice(join(checkout, "tasks").length + 1).replaceAll("\\", "/"),
    service,
    category,
    folder,
    prompt: await readFile(join(folder, "description.md"), "utf8"),
    dataUrls: urls.filter((url) => typeof url === "string"),
  };
}
