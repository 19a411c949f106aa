import {
  type Call,
  type Content,
  promptFor,
  resourceFor,
  type Tool,
  toolFor,
  withLinks,
} from "@refmcp/core";
import * as z from "zod";
import type { Git } from "./git/open/git.ts";
import type { Repository } from "./git/open/repository.ts";
import type { DiffText } from "./git/read/diff.ts";

export const tool = toolFor<Git>();
export const resource = resourceFor<Git>();
export const prompt = promptFor<Git>();

interface RepositoryTool<Query, Output extends z.ZodObject | undefined>
  extends Omit<Tool<Git>, "input" | "output" | "run"> {
  /** The arguments after `repo_path`. */
  readonly input: { readonly [Key in keyof Query]: z.ZodType<Query[Key]> };
  readonly output?: Output;
  run(
    repository: Repository,
    query: Query,
    call: Call,
    git: Git,
  ): ReturnType<Tool<Git, z.ZodObject, Output>["run"]>;
}

/**
 * A tool that changes its repository, when no other change is in progress there; an effect of `read`
 * only opens it.
 */
export function changeTool<Query, Output extends z.ZodObject | undefined = undefined>({
  input,
  run,
  ...facts
}: RepositoryTool<Query, Output>) {
  const all: z.ZodObject = z.strictObject({ repo_path: repoPath, ...input });
  return tool({
    ...facts,
    input: all,
    async run({ repo_path, ...query }, git, call) {
      const path = repo_path as string | undefined;
      const work = async (repository: Repository) => run(repository, query as Query, call, git);
      return facts.effect === "read"
        ? git.read(path, call.signal, work)
        : git.change(path, call.signal, work);
    },
  });
}

export function readTool<Query, Output extends z.ZodObject | undefined = undefined>(
  definition: Omit<RepositoryTool<Query, Output>, "effect">,
) {
  return changeTool({ ...definition, effect: "read" });
}

/** An argument that is false by default. */
export const flag = (text: string) => z.boolean().default(false).describe(text);
/** An optional text. */
export const option = (text: string) => z.string().min(1).max(4_000).optional().describe(text);
/** One of some values. */
export function choice<const Value extends string>(values: readonly Value[], text: string) {
  return z
    .enum(values)
    .default(values[0] as never)
    .describe(text);
}

const repoPath = option("Repository path.");
export const files = (what: string) => z.array(z.string()).min(1).max(1_000).describe(`${what}.`);
const someHunks = z.array(z.string()).min(1).max(200).optional();
export const hunks = someHunks.describe("Only the hunks with these ids of a diff.");
const somePaths = z.array(z.string()).max(100).optional();
export const paths = somePaths.describe("Only these paths, e.g. src.");
/** Arguments of all tools that show a diff. */
export const diffFields = {
  context_lines: z.int().min(0).max(1_000).default(3).describe("Lines of context."),
  paths,
  format: choice(["patch", "stat"], "stat only lists the files."),
  ignore_whitespace: flag("Ignore whitespace changes."),
};
export const onConflict = choice(["abort", "keep"], "keep leaves conflicts, abort nothing.");
export const action = choice(
  ["start", "continue", "skip", "abort"],
  "After conflicts: continue, skip or abort.",
);
const parent = z.int().min(1).max(50).optional();
export const mainline = parent.describe("Of a merge commit: parent to compare with, from 1.");
export const skipHooks = flag("Skip hooks nobody can be asked about.");
const remote = z.string().min(1).max(200);
export const remoteName = remote.default("origin").describe("Name of a configured remote.");

/** Sentences about the response. */
export const notes = z.array(z.string()).optional();

export const repoName = option("Directory or name of the repository, if there are several.");

/** A data response with a text that is easier to read than JSON. */
export function readable<Value extends object>(
  prefix: string,
  { text, ...value }: Value & { text: string },
) {
  return withLinks(value, [], prefix === "" ? text : `${prefix}\n${text}`);
}

/**
 * A text response: the official server's words and the text, then our line about it in a separate
 * block, so that nothing in the text can imitate it.
 */
export function textAnswer(prefix: string, { body, facts, view }: DiffText): Content[] {
  const text = prefix === "" ? body : `${prefix}\n${body}`;
  const { length = 0, ...fields } = view ?? {};
  const diff = { ...fields, begin: text.length - length, end: text.length };
  return [
    { type: "text", text, ...(view ? { _meta: { "io.github.refmcp/diff": diff } } : {}) },
    ...(facts === "" ? [] : [{ type: "text" as const, text: facts }]),
  ];
}

/** A prompt message with the server's text. */
export function words(text: string) {
  return { role: "user" as const, content: { type: "text" as const, text } };
}

/** A message with the repository's text, in a separate block, as a resource with its URI. */
export function material(uri: string, text: string) {
  const resource = { uri, mimeType: "text/plain", text };
  return { role: "user" as const, content: { type: "resource" as const, resource } };
}

export const isEmptyDiff = ({ facts }: { facts: string }) => facts.startsWith("(0 files changed");
