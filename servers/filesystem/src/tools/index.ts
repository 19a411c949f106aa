// Written by `pnpm generate`.
import compareFiles from "./compare-files.ts";
import copyFile from "./copy-file.ts";
import createDirectory from "./create-directory.ts";
import deleteFile from "./delete-file.ts";
import directoryTree from "./directory-tree.ts";
import editFile from "./edit-file.ts";
import getFileInfo from "./get-file-info.ts";
import listAllowedDirectories from "./list-allowed-directories.ts";
import listChanges from "./list-changes.ts";
import listDirectory from "./list-directory.ts";
import listDirectoryWithSizes from "./list-directory-with-sizes.ts";
import moveFile from "./move-file.ts";
import readMediaFile from "./read-media-file.ts";
import readMultipleFiles from "./read-multiple-files.ts";
import readTextFile from "./read-text-file.ts";
import searchFiles from "./search-files.ts";
import searchText from "./search-text.ts";
import undoChange from "./undo-change.ts";
import writeFile from "./write-file.ts";

export const tools = [
  compareFiles,
  copyFile,
  createDirectory,
  deleteFile,
  directoryTree,
  editFile,
  getFileInfo,
  listAllowedDirectories,
  listChanges,
  listDirectory,
  listDirectoryWithSizes,
  moveFile,
  readMediaFile,
  readMultipleFiles,
  readTextFile,
  searchFiles,
  searchText,
  undoChange,
  writeFile,
];
