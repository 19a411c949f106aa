// Parses unified diffs, complete or truncated, with other text between files.

/** A line of a diff, with its line numbers before and after the change. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added" | "gap" | "remark";
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
}

/** A file of a diff, or text before, between or after files. */
export type Section =
  | {
      readonly kind: "file";
      readonly title: string;
      readonly change: Change;
      readonly lines: readonly DiffLine[];
      /** The part of the diff as it was given. */
      readonly patch: string;
    }
  | { readonly kind: "text"; readonly text: string };

/** What happened to a file. */
export type Change = "added" | "deleted" | "renamed" | "changed" | "binary";

interface OpenFile {
  kind: "file";
  title: string;
  change: Change;
  patch: string[];
  names: { old?: string; new?: string };
  lines: DiffLine[];
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** The files of a diff and the text around them, in order. */
export function sectionsOf(text: string): Section[] {
  const lines = text.split("\n");
  const sections: (OpenFile | { kind: "text"; text: string })[] = [];
  let file: OpenFile | undefined;
  // Lines left in the current hunk, by its header: a removed line may itself begin with "--".
  let left = { before: 0, after: 0 };
  let at = { before: 0, after: 0 };
  const open = (title: string) => {
    file = { kind: "file", title, change: "changed", patch: [], names: {}, lines: [] };
    sections.push(file);
  };
  const say = (line: string) => {
    file = undefined;
    const last = sections.at(-1);
    if (last?.kind === "text") last.text += `\n${line}`;
    else sections.push({ kind: "text", text: line });
  };
  for (const [index, line] of lines.entries()) {
    const sign = line[0] ?? " ";
    const isInHunk = left.before > 0 || left.after > 0;
    if (file !== undefined && isInHunk && " +-".includes(sign)) {
      file.patch.push(line);
      const kind = sign === "+" ? "added" : sign === "-" ? "removed" : "same";
      file.lines.push({
        kind,
        ...(kind === "added" ? {} : { before: at.before }),
        ...(kind === "removed" ? {} : { after: at.after }),
        text: line.slice(1),
      });
      if (kind !== "added") at = { ...at, before: at.before + 1 };
      if (kind !== "removed") at = { ...at, after: at.after + 1 };
      left = {
        before: left.before - Number(kind !== "added"),
        after: left.after - Number(kind !== "removed"),
      };
      continue;
    }
    const hunk = HUNK.exec(line);
    if (file !== undefined && line.startsWith("\\ "))
      file.lines.push({ kind: "remark", text: line.slice(2) });
    else if (file !== undefined && hunk !== null) {
      at = { before: Number(hunk[1]), after: Number(hunk[3]) };
      left = { before: Number(hunk[2] ?? 1), after: Number(hunk[4] ?? 1) };
      file.lines.push({ kind: "gap", text: hunk[5] ?? "" });
    } else if (line.startsWith("diff --git ")) {
      left = { before: 0, after: 0 };
      open(line.slice("diff --git ".length));
    } else if (line.startsWith("--- ") && lines[index + 1]?.startsWith("+++ ")) {
      left = { before: 0, after: 0 };
      // After a git header, these names belong to the same file.
      if (
        file === undefined ||
        file.names.new !== undefined ||
        file.lines.some(({ kind }) => kind === "gap")
      )
        open("");
      if (file !== undefined) file.names.old = line.slice(4);
    } else if (
      line.startsWith("+++ ") &&
      file?.names.old !== undefined &&
      file.names.new === undefined
    )
      file.names.new = line.slice(4);
    else if (file !== undefined && file.names.new === undefined && isHeader(line))
      header(file, line);
    else if (file !== undefined && " +-".includes(sign) && line !== "") {
      // The rest of a hunk whose header was on the previous page.
      const kind = sign === "+" ? "added" : sign === "-" ? "removed" : "same";
      file.lines.push({ kind, text: line.slice(1) });
    } else if (line !== "" || file === undefined) say(line);
    file?.patch.push(line);
  }
  return sections.flatMap((section): Section[] => {
    if (section.kind === "file") {
      const { change, lines, patch } = section;
      return [
        { kind: "file", title: titleOf(section), change, lines, patch: patch.join("\n").trimEnd() },
      ];
    }
    const shown = section.text.replace(/^\n+|\n+$/g, "");
    return shown === "" ? [] : [{ kind: "text", text: shown }];
  });
}

const isHeader = (line: string) =>
  /^(index |old mode |new mode |new file mode |deleted file mode |similarity index |dissimilarity index |rename from |rename to |copy from |copy to |Binary files |GIT binary patch)/.test(
    line,
  );

function header(file: OpenFile, line: string): void {
  const name = /^(?:rename|copy) (from|to) (.*)$/.exec(line);
  if (name?.[1] === "from") file.names.old = `a/${name[2]}`;
  else if (name?.[1] === "to") {
    file.title = `${file.names.old?.slice(2)} → ${name[2]}`;
    file.change = "renamed";
  } else if (line.startsWith("new file mode")) file.change = "added";
  else if (line.startsWith("deleted file mode")) file.change = "deleted";
  else if (/^(Binary|GIT binary)/.test(line)) {
    file.change = file.change === "changed" ? "binary" : file.change;
    file.lines.push({ kind: "remark", text: "Binary file; its content is not shown." });
  }
  if (/^(old|new) mode/.test(line) || / mode 120000$| mode 100755$/.test(line))
    file.lines.push({ kind: "remark", text: line });
}

/** A file's title: its new name, with the old one if it was renamed. */
function titleOf({ title, names }: OpenFile): string {
  if (title.includes(" → ")) return title;
  const strip = (name = "") =>
    name.replace(/\t.*$/, "").replace(/^(?:"?)[ab]\//, (start) => (start[0] === '"' ? '"' : ""));
  const [before, after] = [strip(names.old), strip(names.new)];
  if (after === "") return title.replace(/^a\/(.*) b\/\1$/, "$1");
  if (after === "/dev/null") return before;
  return before === after || before === "/dev/null" ? after : `${before} → ${after}`;
}

/** How many characters two lines have in common at the start and at the end. */
export function differing(
  before: string,
  after: string,
): { readonly start: number; readonly end: number } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { start, end };
}
