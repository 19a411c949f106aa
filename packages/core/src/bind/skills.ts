import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crypto } from "@refmcp/boundary/crypto";
import type { Skill } from "../define/server.ts";
import { invalidParams, ProtocolError, refuseCursor, resourceNotFound } from "../engine/errors.ts";
import { asUri, show } from "../engine/message.ts";
import type { Handler } from "../engine/request.ts";

/** The extension that serves skills (SEP-2640). */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** A skill as clients see it (MCP Skills extension, "Skill Entries"). */
interface SkillEntry {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, string>>;
  readonly resources: readonly {
    readonly uri: string;
    readonly digest: string;
    readonly size: number;
  }[];
}

const MAIN_FILE = "SKILL.md";

/**
 * Adds the methods of the Skills extension, and the skills' files to `resources/read`. The files are not listed as
 * resources: only clients that request skills see them.
 *
 * @param source the skills, or the URL of a module in the package that contains them.
 */
export function addSkills(methods: Map<string, Handler>, source: string | readonly Skill[]): void {
  let skills: readonly Skill[] | undefined;
  const loaded = () => {
    skills ??= loadSkills(source);
    return skills;
  };
  const readOthers = methods.get("resources/read");
  methods.set("skills/list", ({ params }) => {
    refuseCursor(params.cursor);
    return { skills: loaded().map(entryOf) };
  });
  methods.set("skills/get", ({ params }) => {
    const skills = loaded().map(entryOf);
    const skill = skills.find(({ uri }) => uri === params.uri);
    if (skill !== undefined) return { skill };
    const available = skills.map(({ uri }) => uri).join(", ");
    throw new ProtocolError(
      invalidParams(`There is no skill at ${show(params.uri)}. Available: ${available}.`),
    );
  });
  methods.set("resources/read", (request) => {
    const uri = asUri(String(request.params.uri));
    if (!uri.startsWith("skill://") && readOthers !== undefined) return readOthers(request);
    for (const { name, files } of loaded()) {
      const file = files.find(({ path }) => uriOf(name, path) === uri);
      if (file !== undefined)
        return { contents: [{ uri, mimeType: "text/markdown", text: file.text }] };
    }
    throw resourceNotFound(uri);
  });
}

/** The skills, or, given the `import.meta.url` of a module, those in `skills/` next to its package.json. */
export function loadSkills(source: string | readonly Skill[]): readonly Skill[] {
  if (typeof source !== "string") return source;
  const folder = new URL("skills/", packageFolder(source));
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, files: filesOf(new URL(`${name}/`, folder)) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function filesOf(folder: URL): Skill["files"] {
  return readdirSync(fileURLToPath(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const inside = `${parentPath}/${name}`
        .slice(fileURLToPath(folder).length)
        .replaceAll("\\", "/");
      const path = inside.replace(/^\//, "");
      return { path, text: readFileSync(new URL(encodeURI(path), folder), "utf8") };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The folder of the package that a module belongs to, whether the module runs from source or from a bundle.
 *
 * @param module its `import.meta.url`.
 * @throws {Error} if it is not in a package.
 */
export function packageFolder(module: string): URL {
  let folder = new URL(".", module);
  while (!existsSync(new URL("package.json", folder))) {
    const parent = new URL("..", folder);
    if (parent.href === folder.href) throw new Error(`${module} is not in a package.`);
    folder = parent;
  }
  return folder;
}

function uriOf(name: string, path: string): string {
  return `skill://${name}/${encodeURI(path)}`;
}

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
