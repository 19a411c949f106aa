import { compilePattern, HAS_FORMS, invalidGlob } from "./pattern.ts";

const MAX_GLOB = 1_000;
const MAX_GLOBS = 100;

/**
 * Compiles a glob: a pattern without a slash matches names at any depth, one with a slash the path below the searched
 * directory; with a trailing slash, it matches only directories. Case-sensitive; the Unicode form (NFC, NFD) is
 * ignored. It is matched in linear time whatever the pattern.
 *
 * @throws ToolError `invalid` with the reason and the supported syntax.
 */
export function compileGlob(glob: string) {
  const { matches, hasSlash, directoriesOnly } = compile(glob);
  return {
    hasWildcard: /[*?[{(]/.test(glob),
    /** @param path relative to the directory that is searched, with `/` between components; it ends in `name`. */
    matches: (path: string, name: string, isDirectory: boolean) =>
      (isDirectory || !directoriesOnly) && matches(hasSlash ? path : name),
  };
}

/**
 * Compiles globs that exclude entries (the official server's `excludePatterns`).
 *
 * @throws ToolError `invalid` for a glob that cannot be used, or more than 100.
 */
export function compileExclusion(globs: readonly string[]) {
  if (globs.length > MAX_GLOBS)
    throw invalidGlob(
      globs[0] ?? "",
      `${globs.length} globs were given; at most ${MAX_GLOBS} are allowed.`,
    );
  const whole = globs.map(compileGlob);
  const contents = globs
    .filter((glob) => /[^\\]\/\*\*\/?$/.test(glob))
    .map((glob) => glob.replace(/\/\*\*\/?$/, ""));
  const ofContents = contents.map((glob) => compile(glob, true));
  return {
    /** Whether the entry is excluded, and with it everything below it. */
    hides: (path: string, name: string, isDirectory: boolean) =>
      whole.some((glob) => glob.matches(path, name, isDirectory)),
    /** Whether everything below this directory is excluded (`vendor/**`), although the directory itself is not. */
    hidesContents: (path: string) => ofContents.some(({ matches }) => matches(path)),
  };
}

export type Exclusion = ReturnType<typeof compileExclusion>;

function compile(glob: string, anchored = false) {
  if (glob.length > MAX_GLOB)
    throw invalidGlob(glob, `It has ${glob.length} characters; at most ${MAX_GLOB} are allowed.`);
  if (glob.startsWith("!"))
    throw invalidGlob(glob, "It begins with an exclamation mark; use exclude patterns instead.");
  const directoriesOnly = glob.endsWith("/");
  const pattern = glob.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
  if (pattern === "") throw invalidGlob(glob, "It is empty.");
  const hasSlash = anchored || pattern.includes("/") || /^\.?\//.test(glob);
  const matchesForm = compilePattern(pattern.normalize("NFC"), { groups: true });
  const hasForms = HAS_FORMS.test(pattern);
  const matches = (text: string) => matchesForm(hasForms ? text.normalize("NFC") : text);
  return { matches, hasSlash, directoriesOnly };
}
