/** MIME types of text files, which have no signature: registered ones, otherwise those that editors use. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  "text/markdown": "md markdown",
  "text/html": "html htm",
  "text/css": "css",
  "text/csv": "csv",
  "text/javascript": "js mjs cjs jsx",
  "text/typescript": "ts mts cts tsx",
  "text/x-python": "py",
  "text/x-rust": "rs",
  "text/x-go": "go",
  "text/x-java": "java",
  "text/x-c": "c h",
  "text/x-c++": "cc cpp hpp",
  "text/x-shellscript": "sh bash zsh",
  "text/x-sql": "sql",
  "text/x-log": "log",
  "text/calendar": "ics",
  "message/rfc822": "eml",
  "application/json": "json",
  "application/yaml": "yaml yml",
  "application/toml": "toml",
  "application/xml": "xml",
};
const BY_EXTENSION = new Map(
  Object.entries(TEXT_TYPES).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension) => [extension, type] as const),
  ),
);

/** The MIME type of a text file, by its extension; undefined if unknown. */
export function textTypeOf(name: string): string | undefined {
  return BY_EXTENSION.get(/[^/\\]\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? "");
}
