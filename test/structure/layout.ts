import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCE_FILES = ["bin.ts", "context.ts", "options.ts", "server.ts"];
/** Prompts and resources are a file each, or a folder of many. */
const OPTIONAL_FILES = ["prompts.ts", "resources.ts"];
/** The only other folder in `src` is the domain. */
const DEFINITIONS = ["tools", "resources", "prompts"];
const MAX_TOOL_LINES = 80;

/** All files below a folder, relative to it, without installed packages; none if it does not exist. */
export function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  // Not `recursive`: since Node.js 24 it also follows links.
  const within = (path: string): string[] =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
      const name = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : within(name);
      return entry.isFile() ? [name] : [];
    });
  return within("").sort();
}

export const isTest = (file: string): boolean => file.endsWith(".test.ts");

export const importsOf = (source: string): string[] =>
  [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name]) => name ?? "");

/** A source without its comments and the contents of its strings, so that prose is not mistaken for code. */
export const codeOf = (source: string): string =>
  source.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/g,
    (literal) => (/^["'`]/.test(literal) ? '""' : ""),
  );

/**
 * The repository's rules about files and sources that a server breaks: one sentence each, with the file and what to do.
 *
 * @param folder `servers/<name>`
 */
export function layoutProblems(folder: string): string[] {
  const source = join(folder, "src");
  const entries = readdirSync(source, { withFileTypes: true });
  const namesOf = (isFile: boolean) =>
    entries.filter((entry) => entry.isFile() === isFile).map(({ name }) => name);
  const domains = namesOf(false).filter((name) => !DEFINITIONS.includes(name));
  return [
    ...namesOf(true)
      .filter((file) => ![...SOURCE_FILES, ...OPTIONAL_FILES].includes(file))
      .map(
        (file) =>
          `src/${file}: move it into ${isTest(file) ? "test" : "the domain folder"} (src has ${SOURCE_FILES.join(", ")} only).`,
      ),
    ...(domains.length === 1
      ? []
      : [
          `src has ${domains.length} folders for the domain (${domains.join(", ")}): put the domain into one, next to tools.`,
        ]),
    ...toolProblems(join(source, "tools"), testsOf(folder)),
    ...filesOf(source).flatMap((file) =>
      sourceProblems(file, readFileSync(join(source, file), "utf8")).map(
        (text) => `src/${file} ${text}`,
      ),
    ),
    ...benchProblems(join(folder, "bench")),
    ...manifestProblems(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))),
  ];
}

/**
 * Finds names of renamed or removed tools that the README and the demo still use.
 *
 * @param name the server's name, with which most of its tools' names must begin for this to be checked
 * @param known the names of tools and prompts, including older ones
 */
export function nameProblems(folder: string, name: string, known: readonly string[]): string[] {
  // Elsewhere such a word may be something else, as sqlite_schema is.
  if (known.filter((candidate) => candidate.startsWith(`${name}_`)).length <= known.length / 2)
    return [];
  return ["README.md", "demo.mjs"].flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const used = new Set(text.match(new RegExp(`\\b${name}_[a-z0-9_]+\\b`, "g")));
    return [...used]
      .filter((candidate) => !known.includes(candidate))
      .map(
        (candidate) =>
          `${file} names ${candidate}, which is neither a tool nor a prompt: update it.`,
      );
  });
}

/** The sources of a server's tests, next to its sources or in its folder of tests. */
function testsOf(folder: string): string {
  const files = filesOf(folder).filter((file) => /^(src|test)\/.*\.ts$/.test(file));
  const tests = files.filter((file) => isTest(file) || file.startsWith("test/"));
  return tests.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
}

/**
 * @param folder absent if the server's tools are all in a shared package
 * @param tests the sources of all tests
 */
function toolProblems(folder: string, tests: string): string[] {
  if (!existsSync(folder)) return [];
  const tools = filesOf(folder).filter((file) => !isTest(file) && file !== "index.ts");
  if (tools.length === 0) return ["src/tools has no tool: a server has at least one."];
  return tools.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const lines = text.split("\n").length - 1;
    const definitions = text.match(/export default tool\(/g)?.length ?? 0;
    const name = /^ {2}name: "([^"]*)"/m.exec(text)?.[1];
    const toolset = /^ {2}toolset: "([^"]*)"/m.exec(text)?.[1];
    const subfolder = file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : undefined;
    const wanted = `${name?.replaceAll("_", "-")}.ts`;
    const test = file.replace(/\.ts$/, ".test.ts");
    const rules: [isBroken: boolean, text: string][] = [
      [
        lines > MAX_TOOL_LINES,
        `has ${lines} lines, more than ${MAX_TOOL_LINES}: move its work into the domain.`,
      ],
      [
        definitions !== 1,
        `has "export default tool(" ${definitions} times: define one tool in each file.`,
      ],
      [
        !existsSync(join(folder, test)) && !(name !== undefined && tests.includes(name)),
        `has no test: write ${test} next to it, or call ${name} in another one.`,
      ],
      [
        subfolder !== undefined && subfolder !== toolset,
        `is in the folder ${subfolder}, but in the toolset ${toolset}: a folder is named for its toolset.`,
      ],
      [
        !/^([a-z]+\/)?[a-z][a-z0-9]*(-[a-z0-9]+)*\.ts$/.test(file),
        `is not named in kebab-case: rename it${name === undefined ? "" : ` to ${wanted}`}.`,
      ],
    ];
    return rules.filter(([isBroken]) => isBroken).map(([, text]) => `src/tools/${file} ${text}`);
  });
}

/** Finds what a source file must not contain, depending on its folder in `src`. */
function sourceProblems(file: string, text: string): string[] {
  const [place = ""] = file.split("/");
  const code = codeOf(text);
  const imports = importsOf(text);
  const problems: string[] = [];
  if (DEFINITIONS.includes(place) && !isTest(file)) {
    const [cast] = code.match(/\bas (?!const\b|\w+[,\s}]*from)\w+/) ?? [];
    if (cast !== undefined)
      problems.push(`casts (${cast}): let the types be inferred, or parse the value with zod.`);
    const [word] = text.match(/jsonrpc|structuredContent|isError|tools\/call/) ?? [];
    if (word !== undefined)
      problems.push(
        `uses the protocol (${word}): return the plain value of output, or throw a ToolError.`,
      );
  }
  const mcp = imports.filter((from) => from.startsWith("@modelcontextprotocol"));
  if (mcp.length > 0 && !isTest(file))
    problems.push(
      `imports ${mcp.join(", ")}: only @refmcp/core knows the protocol. Use tool(), resource(), prompt() and Call.`,
    );
  if (file.includes("/") && !DEFINITIONS.includes(place)) {
    const foreign = imports.filter(
      (from) =>
        from === "@refmcp/core" ||
        from === "@refmcp/testing" ||
        (isTest(file) && from.startsWith("@modelcontextprotocol")) ||
        /^\.\.\/(?:\.\.\/)*(?:tools|resources|prompts|context|server|bin|options)/.test(from),
    );
    if (foreign.length > 0)
      problems.push(
        `imports ${foreign.join(", ")}: the domain must not depend on MCP. Use @refmcp/boundary, and pass values as parameters.`,
      );
  }
  if (isTest(file)) return problems;
  const [output] = code.match(/console\.(?:log|info|debug)|process\.stdout/) ?? [];
  if (output !== undefined)
    problems.push(
      `uses ${output}: stdout belongs to the protocol. Report with call.log or the log that open gets.`,
    );
  // Node.js loses a timeout that only AbortSignal.any() references at the next garbage collection.
  if (/AbortSignal\s*\.\s*timeout\b/.test(code))
    problems.push(
      "uses AbortSignal.timeout, which can be lost: use startDeadline of @refmcp/boundary.",
    );
  return problems;
}

/** Every module in a bench folder must be a benchmark. */
export function benchProblems(folder: string): string[] {
  return filesOf(folder)
    .filter((file) => /^[^/]+\.mjs$/.test(file))
    .filter((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return !/^export const title = /m.test(text) || !/^export async function bench\(/m.test(text);
    })
    .map(
      (file) =>
        `bench/${file} is not a benchmark: export title and bench(), or move it to bench/lib.`,
    );
}

function manifestProblems(manifest: Readonly<Record<string, unknown>>): string[] {
  const name = String(manifest.name).replace("@refmcp/server-", "");
  const wanted = {
    name: `@refmcp/server-${name}`,
    type: "module",
    license: "MIT",
    engines: { node: ">=20.19" },
    bin: { [`refmcp-server-${name}`]: "dist/bin.js" },
    files: ["dist", "skills", "THIRD_PARTY_NOTICES", "sbom.cdx.json"],
    mcpName: `io.github.refmcp/server-${name}`,
  };
  return [
    ...Object.entries(wanted)
      .filter(([key, value]) => JSON.stringify(manifest[key]) !== JSON.stringify(value))
      .map(([key, value]) => `package.json: set "${key}" to ${JSON.stringify(value)}.`),
    ...(/^[a-z]{2,20}$/.test(name)
      ? []
      : [
          `package.json: the server's name "${name}" must be 2 to 20 letters a to z, since hosts build tool names from it.`,
        ]),
  ];
}
