// Written by `pnpm generate`.
import copyFile from "./copy-file.ts";
import createDirectory from "./create-directory.ts";
import deleteFile from "./delete-file.ts";
import editFile from "./edit-file.ts";
import getFileInfo from "./get-file-info.ts";
import listAllowedDirectories from "./list-allowed-directories.ts";
import listChanges from "./list-changes.ts";
import moveFile from "./move-file.ts";
import readMediaFile from "./read-media-file.ts";
import readMultipleFiles from "./read-multiple-files.ts";
import readTextFile from "./read-text-file.ts";
import undoChange from "./undo-change.ts";
import writeFile from "./write-file.ts";

export const tools = [
  copyFile,
  createDirectory,
  deleteFile,
  editFile,
  getFileInfo,
  listAllowedDirectories,
  listChanges,
  moveFile,
  readMediaFile,
  readMultipleFiles,
  readTextFile,
  undoChange,
  writeFile,
];
