/** MIME types of text files, which have no signature: registered ones, otherwise those that editors use. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  "text/markdown": "md markdown",
  "text/html": "html htm",
  "text/css": "css",
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
  "text/javascript": "js mjs cjs jsx",
  "text/typescript": "ts mts cts tsx",
  "text/x-python": "py",
  "text/x-rust": "rs",
  "text/x-go": "go",
  "text/x-java": "java",
  "text/x-kotlin": "kt kts",
  "text/x-swift": "swift",
  "text/x-c": "c h",
  "text/x-c++": "cc cpp cxx hh hpp",
  "text/x-csharp": "cs",
  "text/x-ruby": "rb",
  "text/x-php": "php",
  "text/x-perl": "pl pm",
  "text/x-lua": "lua",
  "text/x-scala": "scala",
  "text/x-r": "r",
  "text/x-shellscript": "sh bash zsh",
  "text/x-sql": "sql",
  "text/x-tex": "tex",
  "text/x-log": "log",
  "text/calendar": "ics",
  "text/vcard": "vcf",
  "message/rfc822": "eml",
  "application/mbox": "mbox",
  "application/rtf": "rtf",
  "application/json": "json",
  "application/jsonl": "jsonl",
  "application/yaml": "yaml yml",
  "application/toml": "toml",
  "application/xml": "xml",
  "application/x-ipynb+json": "ipynb",
};
const TYPE_BY_EXTENSION = byExtension(TEXT_TYPES);

/** The MIME type of a text file, by its extension; undefined if unknown. */
export function textTypeOf(name: string): string | undefined {
  return TYPE_BY_EXTENSION.get(extensionOf(name));
}

/** A table of extensions, `"jpg jpeg png"` by kind, the other way around. */
function byExtension(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([kind, extensions]) =>
      extensions.split(" ").map((extension) => [extension, kind] as const),
    ),
  );
}

/** Without its dot, in lower case; empty for a name without one, or only with a dot in front. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}
