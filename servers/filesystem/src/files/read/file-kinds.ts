const KINDS: Readonly<Record<string, string>> = {
  images: "jpg jpeg png gif webp heic heif bmp tif tiff svg ico avif psd raw cr2 nef dng",
  video: "mp4 mov mkv avi webm m4v wmv mpg mpeg",
  audio: "mp3 wav flac m4a aac ogg opus wma aiff",
  documents: "pdf doc docx docm odt rtf ppt pptx odp key epub mobi pages",
  spreadsheets: "xls xlsx xlsm ods numbers csv tsv",
  text: "txt md markdown rst adoc tex log org",
  mail: "eml mbox msg pst",
  code: "js mjs cjs jsx ts mts cts tsx py ipynb rb rs go java kt kts scala swift c h cc cpp hpp cs php pl pm lua r sh bash zsh ps1 bat sql html htm css scss less vue svelte dart ex exs hs clj zig",
  data: "json jsonl yaml yml toml xml ini cfg conf lock parquet avro db sqlite sqlite3 geojson",
  archives: "zip tar gz tgz bz2 xz zst 7z rar jar war whl deb rpm dmg iso apk",
  programs: "exe msi dll so dylib bin app o a class pyc wasm node",
  fonts: "ttf otf woff woff2",
};
const BY_EXTENSION = new Map(
  Object.entries(KINDS).flatMap(([kind, extensions]) =>
    extensions.split(" ").map((extension) => [extension, kind] as const),
  ),
);

/** What kind of file a name belongs to, by its extension: `images`, `code`; `other` if unknown. */
export function kindOfFile(name: string): string {
  const dot = name.lastIndexOf(".");
  return (dot > 0 && BY_EXTENSION.get(name.slice(dot + 1).toLowerCase())) || "other";
}
