import { defineServer } from "@refmcp/core";
import manifest from "../package.json" with { type: "json" };
import { options } from "./options.ts";
import { prompts } from "./prompts/index.ts";
import { resources } from "./resources/index.ts";
import { tools } from "./tools/index.ts";

export const server = defineServer({
  name: "filesystem",
  packageName: manifest.name,
  title: "Filesystem",
  version: manifest.version,
  description: "Read, search and edit files in the directories that you choose.",
  icon: {
    colors: ["#fcc419", "#e8590c"],
    glyph:
      '<path d="M4 7.5V17a1.5 1.5 0 0 0 1.5 1.5h13A1.5 1.5 0 0 0 20 17V9.5A1.5 1.5 0 0 0 18.5 8H12l-2-2.5H5.5A1.5 1.5 0 0 0 4 7z"/><path d="M4 11.5h16"/>',
  },
  instructions: [
    "All paths are in the allowed directories (list_allowed_directories); everything else is refused.",
    "Find first: search_files for names, search_text for contents, directory_tree for the layout of a project. Read only",
    "the lines that you need (offset, limit). Change a file with edit_file, many files with edit_file and glob;",
    "write_file is for new files and whole replacements. Pass expected_hash if the file may have changed since you read",
    "it. A truncated answer says how to continue. Searches and trees hide what .gitignore lists; include_ignored shows",
    "it. Move, rename or copy many files with one call of move_file or copy_file, with a pattern or moves, and dryRun",
    "first. Every call is one change: list_changes shows it, undo_change undoes it.",
  ].join("\n"),
  options,
  directories: { readOnly: "readOnlyDirs" },
  toolsets: {
    read: { description: "List directories and read files.", default: true },
    search: { description: "Find files by name and content.", default: true },
    write: { description: "Create, change, move, copy and delete.", default: true },
    journal: { description: "Review and undo changes.", default: true },
  },
  views: import.meta.url,
  slim: ["read_text_file", "list_directory", "search_text", "write_file", "edit_file"],
  tools,
  resources,
  prompts,
  // Loaded with the first call, to keep startup fast.
  async open({ options: { ignore, journalDir, journalDays }, allowlist: allowed }) {
    const { createPathGuard, stateDirectories, withHidden } = await import("@refmcp/boundary");
    const { openFiles } = await import("./files/files.ts");
    const { hiddenPlaces } = await import("./files/store/trash.ts");
    const journalDirectories =
      journalDir === undefined ? stateDirectories("filesystem") : [journalDir];
    const files = openFiles({
      guard: createPathGuard(withHidden(allowed, hiddenPlaces(journalDirectories))),
      ignored: ignore,
      journalDays,
      journalDirectories,
    });
    await files.store.eraseUnwanted();
    return files;
  },
  ready({ guard: { allowed } }) {
    const missing = allowed.directories().filter(({ unavailable }) => unavailable !== undefined);
    if (missing.length > 0)
      throw new Error(missing.map(({ path, unavailable }) => `${path} ${unavailable}`).join(", "));
  },
  close: async (files) => (await import("./files/files.ts")).closeFiles(files),
});
