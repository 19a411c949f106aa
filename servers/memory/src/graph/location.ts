import { basename, dirname, extname, join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import envPaths from "env-paths";

/** Where a memory is kept. */
export type MemoryLocation = {
  readonly space: string;
  /** The file of the official server that the user named. */
  readonly official?: string;
} & (
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string }
);

export const DEFAULT_SPACE = "default";

/**
 * @param options `file` is an absolute path; for a `.jsonl` or `.json` file of the official server, the database is next
 *   to it. `store` is a `postgres://` URL, which takes precedence over `file`.
 * @throws ToolError `invalid` for a store that is not a PostgreSQL URL.
 */
export function locationOf({
  space,
  store,
  ...options
}: Readonly<Record<"file" | "store", string | undefined> & { space: string }>): MemoryLocation {
  // The platform's data directory. (The official server keeps its file in npx's cache, which npm empties.)
  const file = options.file ?? join(envPaths("refmcp", { suffix: "" }).data, "memory", "memory.db");
  const ending = extname(file);
  const isOfficial = [".jsonl", ".json"].includes(ending.toLowerCase());
  const common = { space, ...(isOfficial ? { official: file } : {}) };
  if (store !== undefined) return { ...common, kind: "postgres", url: postgresUrl(store) };
  const suffix = space === DEFAULT_SPACE ? "" : `.${space}`;
  const name = `${basename(file, ending)}${suffix}${isOfficial ? ".db" : ending}`;
  return { ...common, kind: "sqlite", file: join(dirname(file), name) };
}

/** What is wrong with a space's name, as a clause after "it"; undefined if it is valid. */
export function spaceProblem(space: string): string | undefined {
  return /^[a-z0-9][a-z0-9_]{0,39}$/.test(space)
    ? undefined
    : "takes 1 to 40 lowercase letters, digits and _";
}

function postgresUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPostgres = url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol);
  if (isPostgres && url.pathname.length > 1) return text;
  // The text may contain a password, so it is not repeated.
  throw new ToolError("invalid", "--store is not a PostgreSQL URL with a database name.", {
    hint: "Use postgres://user:password@host:5432/database. For a SQLite file use --file.",
  });
}
