import { crypto } from "@refmcp/boundary/crypto";
import type { Skill } from "../define/server.ts";
import { invalidParams, ProtocolError, refuseCursor, resourceNotFound } from "../protocol/errors.ts";
import { asUri, show } from "../protocol/messages.ts";
import type { Handler } from "../protocol/service.ts";

/** The extension that serves skills (SEP-2640). */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** A skill as clients see it (MCP Skills extension, "Skill Entries"). */
interface SkillEntry {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, string>>;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

const MAIN_FILE = "SKILL.md";

/**
 * Adds the methods of the Skills extension, and the skills' files to `resources/read`. The files are not listed as
 * resources: only clients that request skills see them.
 *
 * @param source the skills, or the URL of a module in the package that contains them.
 */
export function addSkills(methods: Map<string, Handler>, source: string | readonly Skill[]): void {
  let loading: Promise<readonly Skill[]> | undefined;
  const loaded = () => {
    loading ??= loadSkills(source);
    return loading;
  };
  const readOthers = methods.get("resources/read");
  methods.set("skills/list", async ({ params }) => {
    if (params.cursor !== null) refuseCursor(params.cursor);
    return { skills: (await loaded()).map(entryOf) };
  });
  methods.set("skills/get", async ({ params }) => {
    const skills = (await loaded()).map(entryOf);
    const skill = skills.find(({ uri }) => uri === params.uri);
    if (skill !== undefined) return { skill };
    const available = skills.map(({ uri }) => uri).join(", ");
    throw new ProtocolError(
      invalidParams(`There is no skill at ${show(params.uri)}. Available: ${available}.`),
    );
  });
  methods.set("resources/read", async (request) => {
    const uri = asUri(String(request.params.uri));
    if (!uri.startsWith("skill://") && readOthers !== undefined) return readOthers(request);
    for (const { name, files } of await loaded()) {
      const file = files.find(({ path }) => uriOf(name, path) === uri);
      if (file !== undefined) return { contents: [{ uri, mimeType: "text/markdown", text: file.text }] };
    }
    throw resourceNotFound(uri);
  });
}

/** Reads the skills of a package, unless they are given. */
export async function loadSkills(source: string | readonly Skill[]): Promise<readonly Skill[]> {
  if (typeof source !== "string") return source;
  const { readSkills } = await import("./read-skills.ts");
  return readSkills(source);
}

function uriOf(name: string, path: string): string {
  return `skill://${name}/${encodeURI(path)}`;
}

/** A skill as clients that list skills see it. */
export function entryOf({ name, files }: Skill): SkillEntry {
  const main = files.find(({ path }) => path === MAIN_FILE);
  if (main === undefined) throw new TypeError(`The skill ${name} has no ${MAIN_FILE}.`);
  return {
    uri: uriOf(name, MAIN_FILE),
    frontmatter: frontmatterOf(name, main.text),
    resources: files.map(({ path, text }) => ({
      uri: uriOf(name, path),
      digest: `sha256:${crypto().createHash("sha256").update(text).digest("hex")}`,
      size: Buffer.byteLength(text),
    })),
  };
}

/** The frontmatter of a SKILL.md. Ours has one plain scalar per line, so no YAML parser is needed. */
function frontmatterOf(name: string, text: string): Record<string, string> {
  const block = /^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "";
  const fields = Object.fromEntries(
    block.split("\n").map((line) => {
      const [, key = "", value = ""] = /^([a-z-]+): (.+)$/.exec(line) ?? [];
      return [key, value];
    }),
  );
  if (fields.name !== name || !fields.description || "" in fields)
    throw new TypeError(
      `${name}/${MAIN_FILE} must start with frontmatter: name: ${name} and description, each on one line.`,
    );
  return fields;
}
