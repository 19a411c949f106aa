import { createHash } from "node:crypto";
import { basename, dirname, extname, join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import envPaths from "env-paths";

/** Where a memory is kept. */
export type MemoryLocation = {
  readonly space: string;
  /** Days after which changes leave the journal and their deleted rows are erased; kept forever if omitted. */
  readonly historyDays?: number | undefined;
  /** The file of the official server that the user named. */
  readonly official?: string;
} & (
  | {
      readonly kind: "sqlite";
      readonly file: string;
      /** Whether the user specified no file. */
      readonly isDefault: boolean;
    }
  | { readonly kind: "postgres"; readonly url: string }
);

export const DEFAULT_SPACE = "default";

/**
 * @param file an absolute path; for a `.jsonl` or `.json` file of the official server, the database is next to it.
 * @param store a `postgres://` URL, which takes precedence over `file`.
 * @param space a name, or `auto` to derive one from the project's directory.
 * @param project the directory that `auto` refers to.
 * @throws ToolError `invalid` for a store that is not a PostgreSQL URL.
 */
export function locationOf(
  options: Readonly<
    Record<"file" | "store", string | undefined> & Record<"space" | "project", string>
  > &
    Pick<MemoryLocation, "historyDays">,
): MemoryLocation {
  const { historyDays } = options;
  const space = options.space === "auto" ? projectSpace(options.project) : options.space;
  // The platform's data directory. (The official server keeps its file in npx's cache, which npm empties.)
  const file = options.file ?? join(envPaths("refmcp", { suffix: "" }).data, "memory", "memory.db");
  const ending = extname(file);
  const isOfficial = [".jsonl", ".json"].includes(ending.toLowerCase());
  const common = {
    space,
    historyDays,
    ...(isOfficial ? { official: file } : {}),
  };
  if (options.store !== undefined)
    return { ...common, kind: "postgres", url: postgresUrl(options.store) };
  const isDefaultSpace = space === DEFAULT_SPACE;
  const named = `${basename(file, ending)}${isDefaultSpace ? "" : `.${space}`}${isOfficial ? ".db" : ending}`;
  const isDefault = isDefaultSpace && options.file === undefined;
  return { ...common, kind: "sqlite", isDefault, file: join(dirname(file), named) };
}

/** What is wrong with a space's name, as a clause after "it"; undefined if it is valid. */
export function spaceProblem(space: string): string | undefined {
  return /^[a-z0-9][a-z0-9_]{0,39}$/.test(space)
    ? undefined
    : "takes 1 to 40 lowercase letters, digits and _, or auto";
}

/** The same directory always gets the same name; two directories with the same name get different ones. */
function projectSpace(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 30);
  const key = createHash("sha256").update(directory).digest("hex").slice(0, 8);
  return name === "" ? `p_${key}` : `${name}_${key}`;
}

function postgresUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url !== undefined &&
    ["postgres:", "postgresql:"].includes(url.protocol) &&
    url.pathname.length > 1
  )
    return text;
  // The text may contain a password, so it is not repeated.
  throw new ToolError("invalid", "--store is not a PostgreSQL URL with a database name.", {
    hint: "Use postgres://user:password@host:5432/database. For a SQLite file use --file.",
  });
}
