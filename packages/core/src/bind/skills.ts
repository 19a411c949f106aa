import { crypto } from "../crypto.ts";
import type { ResourceContents } from "../define/content.ts";
import type { Skill } from "../define/server.ts";
import { invalidParams, ProtocolError, resourceNotFound } from "../protocol/errors.ts";
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
 * Adds the methods of the Skills extension, and the files of the skills to `resources/read`. They are in no list of resources:
 * only a client that asks for skills hears of them.
 *
 * @param source the skills, or a module of the package that has them.
 */
export function addSkills(methods: Map<string, Handler>, source: string | readonly Skill[]): void {
  let loading: Promise<Skills> | undefined;
  const loaded = () => {
    loading ??= loadSkills(source);
    return loading;
  };
  const readOthers = methods.get("resources/read");
  methods.set("skills/list", async ({ params }) => {
    if (params.cursor !== undefined && params.cursor !== null)
      throw new ProtocolError(invalidParams("Unknown cursor. This list has only one page; omit cursor."));
    return (await loaded()).list();
  });
  methods.set("skills/get", async ({ params }) => (await loaded()).get(String(params.uri)));
  methods.set("resources/read", async (request) => {
    const uri = asUri(String(request.params.uri));
    if (!uri.startsWith("skill://") && readOthers !== undefined) return readOthers(request);
    const file = (await loaded()).read(uri);
    if (file === undefined) throw resourceNotFound(uri);
    return { contents: [file] };
  });
}

/** Reads them where the package has to be looked at. */
export async function loadSkills(source: string | readonly Skill[]): Promise<Skills> {
  if (typeof source !== "string") return new Skills(source);
  const { readSkills } = await import("./read-skills.ts");
  return new Skills(readSkills(source));
}

/** The skills that a server serves, with their files as resources `skill://NAME/FILE`. */
export class Skills {
  readonly #skills: readonly Skill[];
  #entries: readonly SkillEntry[] | undefined;

  constructor(skills: readonly Skill[]) {
    this.#skills = skills;
  }

  list(): { skills: readonly SkillEntry[] } {
    this.#entries ??= this.#skills.map(entryOf);
    return { skills: this.#entries };
  }

  /** @throws ProtocolError -32602 for a URI without a skill. */
  get(uri: string): { skill: SkillEntry } {
    const { skills } = this.list();
    const skill = skills.find((entry) => entry.uri === uri);
    if (skill !== undefined) return { skill };
    throw new ProtocolError(
      invalidParams(
        `There is no skill at ${show(uri)}. Available: ${skills.map((entry) => entry.uri).join(", ")}.`,
      ),
    );
  }

  /** The content of a skill's file; undefined for any other URI. */
  read(uri: string): ResourceContents | undefined {
    for (const { name, files } of this.#skills) {
      const file = files.find(({ path }) => uriOf(name, path) === uri);
      if (file !== undefined) return { uri, mimeType: "text/markdown", text: file.text };
    }
    return undefined;
  }
}

function uriOf(name: string, path: string): string {
  return `skill://${name}/${encodeURI(path)}`;
}

function entryOf({ name, files }: Skill): SkillEntry {
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

/** The frontmatter of a SKILL.md. Ours has one plain scalar a line, which needs no parser of YAML. */
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
