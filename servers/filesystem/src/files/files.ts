import type { PathGuard } from "@refmcp/boundary";
import { HARD_ANSWER_CHARS } from "@refmcp/boundary/answer";
import { type ChangeContext, Locks } from "./change/change-context.ts";
import { type CopyRequest, copy } from "./change/copy.ts";
import { createDirectory } from "./change/create-directory.ts";
import { type DeletePlan, deletePlanned, planDelete } from "./change/delete.ts";
import { type MoveRequest, move } from "./change/move.ts";
import { replaceQuestion } from "./change/replaced-entry.ts";
import { undo } from "./change/undo.ts";
import { completePath } from "./complete-path.ts";
import { applyPatch, type PatchRequest } from "./edit/apply-patch.ts";
import { type CompareRequest, compareFiles, diffOfChange } from "./edit/compare.ts";
import { type EditRequest, edit } from "./edit/edit.ts";
import { type EditManyRequest, editMany } from "./edit/edit-many.ts";
import { overwriteQuestion, type WriteMode, type WriteRequest, write } from "./edit/write.ts";
import type { Change } from "./journal/change-record.ts";
import { Journal } from "./journal/journal.ts";
import { stateDirectories } from "./journal/journal-directory.ts";
import { type ListChanges, listChanges } from "./journal/list-changes.ts";
import { getInfo } from "./read/info.ts";
import { readMedia } from "./read/media.ts";
import { type ReadManyOptions, readMany } from "./read/read-many.ts";
import { readWhole } from "./read/read-resource.ts";
import { type ReadTextOptions, readText } from "./read/read-text.ts";
import { type TextSearch, textSearcher } from "./search/search-text.ts";
import { ThreadPool } from "./threads/thread-pool.ts";
import { drawTree, type TreeRequest } from "./tree/directory-tree.ts";
import { type ListRequest, listDirectory } from "./tree/list-directory.ts";
import { type NameSearch, searchNames } from "./tree/search-names.ts";
import { Watchers } from "./watch.ts";

/** Characters of a response reserved for the line of facts. */
const FACTS_CHARS = 600;

/** Memory of an editing thread: several copies of a 32 MiB file. */
const EDIT_HEAP_MB = 1024;

/** Characters of text that are returned however small the budget is. */
const MIN_CHARS = 500;

export interface FilesOptions {
  readonly guard: PathGuard;
  /** Whether changes are journaled (`--no-journal`). */
  readonly journal: boolean;
  /** Days that the journal keeps a change (`--journal-days`); 30 by default. */
  readonly journalDays?: number;
  /** Candidates for the journal's directory, in order of preference; by default in the user's state directory. */
  readonly journalDirectories?: readonly string[];
  /** Characters of an explicitly requested range of text (`--max-read-chars`). */
  readonly maxReadChars: number;
  /** Patterns that trees and searches hide in addition to ignore files (`--ignore`); none by default. */
  readonly ignored?: readonly string[];
}

/** Operations on files and directories inside the bound, for this server's tools. */
export type Files = ReturnType<typeof openFiles>;

export function openFiles(options: FilesOptions) {
  const { guard, ignored = [] } = options;
  const watchers = new Watchers(guard);
  const searcher = textSearcher(guard, ignored);
  const threads = new ThreadPool(EDIT_HEAP_MB);
  const journal = new Journal({
    directories: options.journalDirectories ?? stateDirectories(),
    allowed: guard.allowed,
    enabled: options.journal,
    ...(options.journalDays === undefined ? {} : { maxDays: options.journalDays }),
  });
  const context: ChangeContext = { guard, locks: new Locks(), journal, threads };
  const maxReadChars = Math.min(options.maxReadChars, HARD_ANSWER_CHARS - FACTS_CHARS);

  return {
    guard,
    allowedDirectories: () => guard.allowed.directories(),
    /** Characters of text for a call: its budget, or more if it specifies a range. */
    readChars(budget: number, explicit: boolean): number {
      const usual = Math.max(MIN_CHARS, Math.min(budget, HARD_ANSWER_CHARS) - FACTS_CHARS);
      return explicit ? Math.max(maxReadChars, usual) : usual;
    },
    readText: (path: string, range: ReadTextOptions) => readText(guard, path, range, threads),
    readMany: (paths: readonly string[], { maxChars, ...more }: ReadManyOptions) =>
      readMany(guard, paths, { ...more, maxChars: Math.min(maxChars, maxReadChars) }),
    readMedia: (path: string, signal?: AbortSignal) => readMedia(context, path, signal),
    /** A whole file, or the names in a directory. */
    readWhole: (path: string) => readWhole(guard, path),
    info: (path: string, signal?: AbortSignal) => getInfo(guard, path, signal),
    list: (request: ListRequest) => listDirectory(guard, request),
    tree: (request: TreeRequest) => drawTree(guard, request, ignored),
    searchNames: (request: NameSearch) => searchNames(guard, request, ignored),
    searchText: (request: TextSearch) => searcher.search(request),
    /** Absolute paths that begin with the typed text. */
    completePath: (typed: string) => completePath(guard, typed),
    compare: (request: CompareRequest) => compareFiles(context, request),

    write: (request: WriteRequest) => write(context, request),
    /** The question to ask the user before `write`; undefined if nothing will be permanently lost. */
    overwriteQuestion: (path: string, mode: WriteMode) => overwriteQuestion(context, path, mode),
    edit: (request: EditRequest) => edit(context, request),
    editMany: (request: EditManyRequest) => editMany(context, request, ignored),
    applyPatch: (request: PatchRequest) => applyPatch(context, request),
    createDirectory: (path: string) => createDirectory(context, path),
    move: (request: MoveRequest) => move(context, request),
    copy: (request: CopyRequest) => copy(context, request),
    /** The question to ask the user before `move` or `copy`; undefined if nothing will be permanently lost. */
    replaceQuestion: ({ destination, overwrite }: Pick<MoveRequest, "destination" | "overwrite">) =>
      replaceQuestion(context, destination, overwrite),
    /** Plans a deletion; ask its `question` before `delete`. */
    planDelete: (path: string, how: { recursive: boolean; signal?: AbortSignal }) =>
      planDelete(context, path, how),
    delete: (plan: DeletePlan, signal?: AbortSignal) => deletePlanned(context, plan, signal),

    changes: (range: ListChanges) => listChanges(context, range),
    /** A change to a text file as a unified diff; undefined if unknown. */
    changeDiff: (change: Change, maxChars: number, signal?: AbortSignal) =>
      diffOfChange(context, change, maxChars, signal),
    undo: (id: string, signal?: AbortSignal) => undo(context, id, signal),
    /** Erases the journal of the allowed directories. */
    forgetChanges: () => journal.forget(),
    /** Calls `listener` after each change that this server records; returns a function that removes it. */
    onChange: (listener: () => void) => journal.onWrite(listener),
    /** Calls `changed` when a file or an entry of a directory changes; returns a function that stops watching. */
    watch: (path: string, changed: () => void) => watchers.watch(path, changed),

    /** Releases watchers and threads. */
    async close(): Promise<void> {
      await Promise.all([watchers.close(), searcher.close(), threads.close()]);
    },
  };
}
