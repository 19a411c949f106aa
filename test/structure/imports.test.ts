import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { withoutComments } from "../../scripts/lib/count.mjs";
import { packageFolders } from "../../scripts/lib/setup.mjs";
import { ROOT } from "../servers.ts";

/** Every name of a module. */
const ALL = "*";

/** What a module names of another: `export` if it exports the name as its own. */
interface Use {
  readonly from: string;
  readonly name: string;
  readonly exported: boolean;
}

interface Module {
  readonly uses: readonly Use[];
  /** Named exports that the module declares or passes on. */
  readonly exports: readonly string[];
}

const FROM = /\b(import|export)\s+(?:type\s+)?([\w$*{}\s,]+?)\s+from\s*["']([^"'\n]+)["']/g;
/** `importSource` of the scripts takes a path from the root. */
const CALL =
  /(?:\{([^{}]*)\}\s*=\s*await\s+)?\bimport(?:Source)?\(\s*["']([^"'\n]+)["'],?\s*\)(?:\)?\s*\.\s*(\w+))?/g;
const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+|async\s+)?(?:function\*?|class|const|let|type|interface|enum)\s+([\w$]+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}(?!\s*from)/gm;

/** `{ a, type b as c }` → what the other module calls them, and what this one does. */
const namesIn = (list: string): { theirs: string; ours: string }[] =>
  (/\{([^}]*)\}/.exec(list)?.[1] ?? "").split(",").flatMap((item) => {
    const [, theirs, ours] =
      /^\s*(?:type\s+)?([\w$]+)(?:\s*(?:as\s|:)\s*([\w$]+))?/.exec(item) ?? [];
    return theirs === undefined ? [] : [{ theirs, ours: ours ?? theirs }];
  });

const packages = new Map<string, { folder: string; exports: Record<string, string> }>();
for (const folder of await packageFolders()) {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
  packages.set(manifest.name, { folder, exports: manifest.exports ?? {} });
}

/** The file of the workspace that an import names. */
function resolve(file: string, from: string): string | undefined {
  if (from.startsWith("."))
    return posix.join(posix.dirname(file), from).replace(/\/dist\/(.*)\.js$/, "/src/$1.ts");
  if (/^(?:packages|servers)\//.test(from)) return from;
  const [, name = "", path = ""] = /^(@refmcp\/[\w-]+)(.*)$/.exec(from) ?? [];
  const { folder = "", exports = {} } = packages.get(name) ?? {};
  const target = exports[`.${path}`];
  return target && posix.join(folder, target);
}

function parse(file: string): Module {
  const text = readFileSync(join(ROOT, file), "utf8");
  // The types of scripts are in their comments.
  const code = file.endsWith(".mjs") ? text : withoutComments(text);
  const uses: Use[] = [];
  const names = [...code.matchAll(DECLARED)].map(([, name = ""]) => name);
  for (const [list] of code.matchAll(LISTED)) names.push(...namesIn(list).map(({ ours }) => ours));
  const use = (target: string, name: string, exported = false) => {
    const from = resolve(file, target);
    if (from !== undefined) uses.push({ from, name, exported });
  };
  for (const [, verb, list = "", from = ""] of code.matchAll(FROM)) {
    const exported = verb === "export";
    if (list.includes("*")) use(from, ALL, exported);
    else use(from, "default");
    for (const { theirs, ours } of namesIn(list)) {
      use(from, theirs, exported);
      if (exported) names.push(ours);
    }
  }
  for (const [, from = ""] of code.matchAll(/\bimport\s*["']([^"'\n]+)["']/g)) use(from, "default");
  for (const [, list, from = "", member] of code.matchAll(CALL))
    for (const name of list === undefined
      ? [member ?? ALL]
      : namesIn(`{${list}}`).map((n) => n.theirs))
      use(from, name === "then" ? ALL : name);
  return { uses, exports: names.filter((name) => name !== "default") };
}

const isCode = (file: string) =>
  /(?<!\.d)\.(?:ts|mts|mjs)$/.test(file) && existsSync(join(ROOT, file));
/** Modules that are built: sources and views, without tests. */
const isSource = (file: string) =>
  /^(?:packages|servers)\/[\w-]+\/(?:src|views)\//.test(file) && !file.endsWith(".test.ts");

const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
const modules = new Map(
  [
    ...new Set(
      execFileSync("git", list, { cwd: ROOT, encoding: "utf8", maxBuffer: 1e8 }).split("\0"),
    ),
  ]
    .filter(isCode)
    .sort()
    .map((file) => [file, parse(file)] as const),
);

/** Named exports of `src` that no other source uses, as `file#name`: those that nothing uses, and those of tests and scripts only. */
function idleExports(): { unused: string[]; onlyTests: string[] } {
  const used = { sources: new Set<string>(), others: new Set<string>() };
  const mark = (set: Set<string>, file: string, name: string) => {
    if (set.has(`${file}#${name}`)) return;
    set.add(`${file}#${name}`);
    // What a module passes on with `export *` is used if the module is; a name, if the module has it.
    for (const use of modules.get(file)?.uses ?? [])
      if (use.exported && use.name === ALL) mark(set, use.from, name);
  };
  for (const { folder, exports } of packages.values())
    for (const [path, target] of Object.entries(exports))
      if (!path.includes("*")) mark(used.sources, posix.join(folder, target), ALL);
  for (const [file, { uses }] of modules)
    for (const { from, name, exported } of uses)
      if (from !== file && !(exported && name === ALL))
        mark(isSource(file) ? used.sources : used.others, from, name);
  const idle = [...modules].flatMap(([file, { exports }]) =>
    isSource(file) && file.includes("/src/")
      ? exports
          .filter((name) => !isIn(used.sources, file, name))
          .map((name) => [file, name] as const)
      : [],
  );
  const named = (isOfTests: boolean) =>
    idle
      .filter(([file, name]) => isIn(used.others, file, name) === isOfTests)
      .map(([file, name]) => `${file}#${name}`)
      .sort();
  return { unused: named(false), onlyTests: named(true) };
}

const isIn = (set: ReadonlySet<string>, file: string, name: string): boolean =>
  set.has(`${file}#${name}`) || set.has(`${file}#${ALL}`);

/** What existed when these tests were written. The lists may only get shorter. */
const FILE = fileURLToPath(new URL("imports.json", import.meta.url));
const allowed: { unused: string[]; onlyTests: string[] } = JSON.parse(readFileSync(FILE, "utf8"));
const MOVED = "If a file only moved, change its path in test/structure/imports.json";

/** What is gone from the sources must leave the list, which SHORTEN=1 does. */
function expectShortened<K extends keyof typeof allowed>(key: K, now: (typeof allowed)[K]) {
  if (process.env["SHORTEN"] === undefined) {
    const advice = "in test: SHORTEN=1 npx vitest run structure/imports";
    expect(allowed[key], `test/structure/imports.json can be shorter; ${advice}`).toEqual(now);
    return;
  }
  allowed[key] = now;
  writeFileSync(FILE, `${JSON.stringify(allowed, undefined, 2)}\n`);
}

it.each([
  ["unused", "no other file uses", "Delete what it exports, or only the word export"],
  ["onlyTests", "only tests or scripts use", "Test what the sources use, or move it to the tests"],
] as const)("no export is %s: one that %s", (key, _, advice) => {
  const now = idleExports()[key];
  const added = now.filter((name) => !allowed[key].includes(name));
  expect(added, `A new export is ${key}. ${advice}. ${MOVED}`).toEqual([]);
  expectShortened(key, now);
});
