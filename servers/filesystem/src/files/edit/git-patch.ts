import type { ToolError } from "@refmcp/boundary/answer";
import { parsePatch, type StructuredPatch } from "diff";
import { failure, named } from "../messages.ts";
import { withLf } from "./changed-ranges.ts";

const MAX_FILES = 500;

/** What a patch does to one file; names are as in the patch, without git's prefixes. */
export interface FilePatch {
  readonly action: "create" | "edit" | "delete" | "rename" | "copy";
  /** The file whose content the hunks apply to; equal to `to` for `create`, and to `from` for `edit` and `delete`. */
  readonly from: string;
  readonly to: string;
  readonly hunks: StructuredPatch["hunks"];
  /** Whether the file becomes executable; undefined if that does not change. */
  readonly executable: boolean | undefined;
}

/**
 * Parses a unified diff, with the extended headers of `git diff` and `git format-patch`.
 *
 * @throws ToolError `invalid` if it is malformed, changes no file or too many, or contains a binary file, symlink or
 * submodule.
 */
export function parseGitPatch(text: string): FilePatch[] {
  // Line endings in hunks are those of the file, unless the patch as a whole has CRLF.
  const own = /(?:^|[^\r])\n/.test(text) ? text : withLf(text);
  const binary = /^GIT binary patch$/m.exec(own)?.index;
  if (binary !== undefined) {
    const [header = ""] = own.slice(own.lastIndexOf("diff --git ", binary)).split("\n", 1);
    throw binaryFile(namesOf(parsed(header)[0])[1] ?? header);
  }
  const patches = parsed(own).filter((patch) => patch.hunks.length > 0 || isChange(patch));
  if (patches.length === 0) throw badPatch("It contains no hunks (@@ … @@).");
  if (patches.length > MAX_FILES) throw badPatch(`It changes more than ${MAX_FILES} files.`);
  return patches.map(filePatch);
}

/** The signature with which `git format-patch` ends a mail: `-- ` and git's version. */
const SIGNATURE = /^-- \n\d+\.\d+.*\n?(?=\n*(?:From [\da-f]{40} |(?![\s\S])))/gm;

function parsed(text: string): StructuredPatch[] {
  try {
    return parsePatch(text.replace(SIGNATURE, ""));
  } catch (error) {
    throw badPatch(error instanceof Error ? `${error.message}.` : "");
  }
}

/** Whether a patch without hunks changes something. */
function isChange({
  isRename,
  isCopy,
  isCreate,
  isDelete,
  isBinary,
  newMode,
}: StructuredPatch): boolean {
  return [isRename, isCopy, isCreate, isDelete, isBinary].includes(true) || newMode !== undefined;
}

function filePatch(patch: StructuredPatch): FilePatch {
  const { hunks, isRename, isCopy, newMode, oldMode } = patch;
  const [old, next] = namesOf(patch);
  const from = old ?? next;
  const to = next ?? old;
  if (from === undefined || to === undefined)
    throw badPatch("A file has no name (--- a/…, +++ b/…).");
  if (patch.isBinary === true) throw binaryFile(to);
  if ([oldMode, newMode].some((mode) => mode !== undefined && !mode.startsWith("100"))) {
    throw failure(
      "special_in_patch",
      `${named(to)} is a symlink or submodule; nothing was changed.`,
    );
  }
  const isCreate = old === undefined || patch.isCreate === true;
  const isDelete = next === undefined || patch.isDelete === true;
  const action = isCreate
    ? "create"
    : isDelete
      ? "delete"
      : isRename
        ? "rename"
        : isCopy
          ? "copy"
          : "edit";
  const isExecutable =
    newMode === undefined ? undefined : (Number.parseInt(newMode, 8) & 0o111) !== 0;
  // A new file is not executable anyway.
  const executable = isDelete || (isCreate && isExecutable === false) ? undefined : isExecutable;
  // Without git's headers, two names are those of one file, for example x.orig and x.
  return { action, from: isRename || isCopy ? from : to, to, hunks, executable };
}

/** The old and the new name without git's prefixes (a/ and b/, or c/, i/, o/ and w/); undefined for /dev/null. */
function namesOf(patch: StructuredPatch | undefined): (string | undefined)[] {
  const names = [patch?.oldFileName, patch?.newFileName];
  const prefixes = patch?.isGit === true ? [/^[acio]\//, /^[biw]\//] : [/^a\//, /^b\//];
  const isPrefixed =
    names.every((name, index) => name === "/dev/null" || prefixes[index]?.test(name ?? "")) &&
    names[0]?.[0] !== names[1]?.[0];
  return names.map((name) =>
    name === "/dev/null" ? undefined : isPrefixed ? name?.slice(2) : name,
  );
}

function badPatch(reason: string): ToolError {
  return failure("bad_patch", `The patch is invalid. ${reason}`.trim());
}

function binaryFile(name: string): ToolError {
  return failure(
    "binary_in_patch",
    `The patch changes the binary file ${named(name)}; nothing was changed.`,
  );
}
