import { digits, errorsOf, oneLine } from "@refmcp/boundary/answer";

export function named(path: string): string {
  return `"${oneLine(path)}"`;
}

/** A number with its noun: `1 file`, `2,000 files`. */
export function counted(count: number, single: string, many = `${single}s`): string {
  return `${digits(count)} ${count === 1 ? single : many}`;
}

/** This server's errors: each with its kind, and what to do next; a hint of the error itself replaces that. */
export const failure = errorsOf({
  // Paths
  just_created: ["conflict", "Retry."],
  unreadable: ["denied", "Ask the user to change its permissions, or list another directory."],
  special_file: ["denied", "Choose another path."],
  too_many_watched: ["too_large", "Unsubscribe from some, or subscribe to their directory."],

  // Reading
  binary: [
    "invalid",
    "Use read_media_file for images, audio and other binary files. For text that is not recognized, such as UTF-16 without a byte order mark, pass encoding (utf-16le) to read_text_file.",
  ],
  not_binary: ["invalid", "Use read_text_file."],
  several_ranges: [
    "invalid",
    "Use head for the first lines, tail for the last lines, or offset with limit for lines in between.",
  ],
  bad_tail: ["invalid"],
  past_end: ["invalid"],
  short_line: ["invalid", "Use a smaller column, or leave it out."],
  line_too_far: ["too_large", "Read the end with tail, or find the text with search_text."],
  unknown_encoding: [
    "invalid",
    "Use a WHATWG name, such as utf-8, utf-16le, windows-1252, gbk, big5, shift_jis, euc-kr or koi8-r; or leave it out.",
  ],
  no_character: ["invalid"],
  bad_document: ["invalid", "Ask the user for another copy of it, or for its text."],
  document_too_slow: ["timeout", "Ask the user for the text of it, or a smaller document."],
  too_large: ["too_large"],

  // Searching
  bad_glob: [
    "invalid",
    "Globs support * ? ** [a-z] and {a,b}, as in src/**/*.{ts,tsx}; a backslash makes the next character literal.",
  ],
  bad_pattern: ["invalid"],
  names_too_slow: ["timeout", 'Search a subdirectory, or page through it with sort="path".'],
  search_too_slow: ["timeout", "Search fewer files (path, glob), or use a simpler pattern."],
  matching_too_slow: [
    "timeout",
    "Simplify the pattern: nested repetition, as in (a+)+, may never finish. Or exclude the file with glob.",
  ],
  out_of_memory: ["too_large", "Use fewer files (path, glob), a simpler pattern or fewer edits."],

  // Editing
  other_hash: ["conflict", "Read it with read_text_file, then repeat it with the new hash."],
  just_changed: ["conflict", "Read it again, then repeat the change."],
  create_only: ["conflict", "Choose another name, or use mode overwrite or append."],
  no_parent: ["not_found", "Set create_parents to create the missing directories."],
  empty_text: [
    "invalid",
    "To insert text, use an adjacent line as oldText and repeat it in newText; to append, use write_file with mode append.",
  ],
  several_places: ["invalid", "Include surrounding lines, or set replace_all to change all."],
  no_place: [
    "not_found",
    "Copy oldText exactly from read_text_file (with indentation, without line numbers), then repeat all edits.",
  ],
  no_match: ["not_found", "Try it with search_text, or leave regex out to replace exact text."],
  in_no_file: ["not_found", "Nothing was changed. Search for it with search_text."],
  too_many_files: ["too_large", "Narrow path or glob, and make several calls."],
  edits_too_slow: ["timeout", "Match fewer places, or simplify a pattern: (a+)+ may never finish."],
  not_preserved: ["invalid", "Rewrite it as UTF-8 with write_file, or edit it elsewhere."],

  // Moving, copying and deleting
  exists: ["conflict", "Choose another name, or set overwrite to replace it."],
  directory_exists: ["conflict", "Give a path inside it or another name, or move it first."],
  link_exists: ["conflict", "Give the path of its target, or delete the symlink first."],
  no_pairs: ["invalid", "Give source and destination, or moves: a list of such pairs."],
  bad_template: ["invalid"],
  no_match_source: ["not_found"],
  plan_refused: ["conflict", "Correct or leave out these, then repeat the call."],
  half_made: ["conflict", "Undo that change with undo_change and skip_changed: true."],
  onto_itself: ["invalid", "Give another destination."],
  into_itself: ["invalid", "Choose a destination outside the directory being copied."],
  not_empty: ["conflict", "To delete it with its contents, pass recursive: true."],

  // The journal
  no_journal: [
    "unavailable",
    "Ask the user to start the server with --journal-days above 0, and with a --journal-dir that it can write to.",
  ],
  not_recorded: ["unavailable", "Ask the user to free space there, or for another --journal-dir."],
  not_kept: ["too_large", "Ask the user to change it, or for a --journal-dir on its disk."],
  no_change: ["not_found", "list_changes lists the recorded changes, newest first."],
  already_undone: ["conflict"],
  nothing_made: ["conflict"],
  changed_since: [
    "conflict",
    "Undo the later changes first (list_changes with this path shows them), or write the content you want.",
  ],
  image_missing: ["conflict", "list_changes shows what can still be undone."],
  occupied: ["conflict", "Move or delete it first."],
});
