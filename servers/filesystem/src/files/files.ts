import { HARD_ANSWER_CHARS } from "@refmcp/core/answer";
import type { AllowedDirectory, PathGuard } from "@refmcp/core/boundary";
import type { ChangeContext } from "./change/change-context.ts";
import { type Copied, type CopyRequest, copy } from "./change/copy.ts";
import { type CreatedDirectory, createDirectory } from "./change/create-directory.ts";
import { type Deleted, type DeletePlan, deletePlanned, planDelete } from "./change/delete.ts";
import { type Moved, type MoveRequest, move } from "./change/move.ts";
import { Locks } from "./change/path-locks.ts";
import { replaceQuestion } from "./change/replaced-entry.ts";
import { overwriteQuestion, type WriteMode, type WriteRequest, type Written, write } from "./change/write.ts";
import { completePath } from "./complete-path.ts";
import { applyPatch, type Patched, type PatchRequest } from "./edit/apply-patch.ts";
import { type CompareRequest, type Comparison, compareFiles } from "./edit/compare.ts";
import { type Edited, type EditRequest, edit } from "./edit/edit.ts";
import { type EditManyRequest, editMany } from "./edit/edit-many.ts";
import type { ChangedFiles } from "./edit/in-turn.ts";
import { diffOfChange } from "./journal/change-diff.ts";
import type { Change } from "./journal/change-record.ts";
import { Journal } from "./journal/journal.ts";
import { stateDirectories } from "./journal/journal-directory.ts";
import { type ChangePage, type ListChanges, listChanges } from "./journal/list-changes.ts";
import { type Undone, undo } from "./journal/undo.ts";
import { type FileInfo, getInfo } from "./read/info.ts";
import { type Media, readMedia } from "./read/media.ts";
import { type ManyTexts, type ReadManyOptions, readMany } from "./read/read-many.ts";
import { readWhole, type Whole } from "./read/read-resource.ts";
import { type ReadTextOptions, readText, type TextPart } from "./read/read-text.ts";
import { type TextFound, type TextSearch, TextSearcher } from "./search/search-text.ts";
import { ThreadPool } from "./threads/thread-pool.ts";
import { drawTree, type TreeRequest } from "./tree/directory-tree.ts";
import { type Listing, type ListRequest, listDirectory } from "./tree/list-directory.ts";
import { type NameSearch, type NamesFound, searchNames } from "./tree/search-names.ts";
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
  /** Where the journal may be, best first; by default in the user's state directory. */
  readonly journalDirectories?: readonly string[];
  /** Characters of an explicitly requested range of text (`--max-read-chars`). */
  readonly maxReadChars: number;
  /** What trees and searches hide in addition to ignore files (`--ignore`); none by default. */
  readonly ignored?: readonly string[];
}

/** Files and directories inside the bound: what this server's tools work on. */
export class Files {
  readonly guard: PathGuard;
  readonly #context: ChangeContext;
  readonly #maxReadChars: number;
  readonly #watchers: Watchers;
  readonly #ignored: readonly string[];
  readonly #textSearcher: TextSearcher;

  constructor(options: FilesOptions) {
    const { guard } = options;
    this.guard = guard;
    this.#watchers = new Watchers(guard);
    this.#ignored = options.ignored ?? [];
    this.#textSearcher = new TextSearcher(guard, this.#ignored);
    const directories = options.journalDirectories ?? stateDirectories();
    const journal = new Journal({
      directories,
      bound: guard.bound,
      enabled: options.journal,
      ...(options.journalDays === undefined ? {} : { mostDays: options.journalDays }),
    });
    this.#context = { guard, locks: new Locks(), journal, threads: new ThreadPool(EDIT_HEAP_MB) };
    this.#maxReadChars = Math.min(options.maxReadChars, HARD_ANSWER_CHARS - FACTS_CHARS);
  }

  /** Characters of text for a call: its budget, or more if it specifies a range. */
  readChars(budget: number, explicit: boolean): number {
    const usual = Math.max(MIN_CHARS, Math.min(budget, HARD_ANSWER_CHARS) - FACTS_CHARS);
    return explicit ? Math.max(this.#maxReadChars, usual) : usual;
  }

  allowedDirectories(): readonly AllowedDirectory[] {
    return this.guard.bound.directories();
  }

  readText(path: string, options: ReadTextOptions): Promise<TextPart> {
    return readText(this.guard, path, options, this.#context.threads);
  }

  readMany(paths: readonly string[], options: ReadManyOptions): Promise<ManyTexts> {
    const maxChars = Math.min(options.maxChars, this.#maxReadChars);
    return readMany(this.guard, paths, { ...options, maxChars });
  }

  readMedia(path: string, signal?: AbortSignal): Promise<Media> {
    return readMedia(this.#context, path, signal);
  }

  info(path: string, signal?: AbortSignal): Promise<FileInfo> {
    return getInfo(this.guard, path, signal);
  }

  list(request: ListRequest): Promise<Listing> {
    return listDirectory(this.guard, request);
  }

  tree(request: TreeRequest): Promise<string> {
    return drawTree(this.guard, request, this.#ignored);
  }

  searchNames(request: NameSearch): Promise<NamesFound> {
    return searchNames(this.guard, request, this.#ignored);
  }

  searchText(request: TextSearch): Promise<TextFound> {
    return this.#textSearcher.search(request);
  }

  write(request: WriteRequest): Promise<Written> {
    return write(this.#context, request);
  }

  /** What to ask the user before `write`; undefined if nothing will be permanently lost. */
  overwriteQuestion(path: string, mode: WriteMode): Promise<string | undefined> {
    return overwriteQuestion(this.#context, path, mode);
  }

  edit(request: EditRequest): Promise<Edited> {
    return edit(this.#context, request);
  }

  editMany(request: EditManyRequest): Promise<ChangedFiles<Edited>> {
    return editMany(this.#context, request, this.#ignored);
  }

  applyPatch(request: PatchRequest): Promise<ChangedFiles<Patched>> {
    return applyPatch(this.#context, request);
  }

  compare(request: CompareRequest): Promise<Comparison> {
    return compareFiles(this.#context, request);
  }

  createDirectory(path: string): Promise<CreatedDirectory> {
    return createDirectory(this.#context, path);
  }

  move(request: MoveRequest): Promise<Moved> {
    return move(this.#context, request);
  }

  copy(request: CopyRequest): Promise<Copied> {
    return copy(this.#context, request);
  }

  /** What to ask the user before `move` or `copy`; undefined if nothing will be permanently lost. */
  replaceQuestion(request: Pick<MoveRequest, "destination" | "overwrite">): Promise<string | undefined> {
    return replaceQuestion(this.#context, request.destination, request.overwrite);
  }

  /** What deleting would remove; ask `question` before `delete`. */
  planDelete(path: string, options: { recursive: boolean; signal?: AbortSignal }): Promise<DeletePlan> {
    return planDelete(this.#context, path, options);
  }

  delete(plan: DeletePlan, signal?: AbortSignal): Promise<Deleted> {
    return deletePlanned(this.#context, plan, signal);
  }

  changes(range: ListChanges): Promise<ChangePage> {
    return listChanges(this.#context, range);
  }

  /** What a change did to a text file, as a unified diff; undefined if that is not known. */
  changeDiff(change: Change, maxChars: number, signal?: AbortSignal): Promise<string | undefined> {
    return diffOfChange(this.#context, change, maxChars, signal);
  }

  /** Removes what the journal has kept of changes in the allowed directories. */
  forgetChanges(): Promise<void> {
    return this.#context.journal.forget();
  }

  /** Calls back after each change that this server records; returns a function that stops it. */
  onChange(listener: () => void): () => void {
    return this.#context.journal.onWrite(listener);
  }

  /** A whole file, or the names in a directory. */
  readWhole(path: string): Promise<Whole> {
    return readWhole(this.guard, path);
  }

  /** Absolute paths that begin with what was typed. */
  completePath(typed: string): Promise<string[]> {
    return completePath(this.guard, typed);
  }

  /** Calls back when a file or an entry of a directory changes; returns a function that stops it. */
  watch(path: string, changed: () => void): Promise<() => Promise<void>> {
    return this.#watchers.watch(path, changed);
  }

  /** Releases watchers and threads. */
  async close(): Promise<void> {
    await Promise.all([this.#watchers.close(), this.#textSearcher.close(), this.#context.threads.close()]);
  }

  undo(id: string, signal?: AbortSignal): Promise<Undone> {
    return undo(this.#context, id, signal);
  }
}
