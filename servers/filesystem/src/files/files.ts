import { type PathGuard, stateDirectories } from "@refmcp/boundary";
import { HARD_ANSWER_CHARS } from "@refmcp/boundary/answer";
import { type ChangeContext, createDirectory, Locks } from "./change/change-context.ts";
import { copy } from "./change/copy.ts";
import { deletePlanned, planDelete } from "./change/delete.ts";
import { move } from "./change/move.ts";
import { plan } from "./change/plan.ts";
import { planQuestion, runPlan } from "./change/run-plan.ts";
import { undo } from "./change/undo.ts";
import { compareFiles, diffOfChange } from "./edit/compare.ts";
import { type EditManyRequest, edit, editMany } from "./edit/edit.ts";
import { overwriteQuestion, write } from "./edit/write.ts";
import { Journal } from "./journal/journal.ts";
import { listChanges } from "./journal/list-changes.ts";
import { Documents } from "./read/documents.ts";
import { getInfo } from "./read/info.ts";
import { readMedia } from "./read/media.ts";
import { type ReadManyOptions, readMany } from "./read/read-many.ts";
import { type ReadTextOptions, readText } from "./read/read-text.ts";
import { completePath, readTail, readWhole } from "./read/resource.ts";
import { summarize } from "./read/summary.ts";
import { textSearcher } from "./search/search-text.ts";
import { ThreadPool } from "./threads/thread-pool.ts";
import { drawTree, type TreeRequest } from "./tree/directory-tree.ts";
import { listDirectory, type NameSearch, searchNames } from "./tree/listings.ts";
import { newestFiles } from "./tree/newest-files.ts";
import { watchersOf } from "./watch.ts";

const FACTS_CHARS = 600;
/** Memory of an editing thread: several copies of a 32 MiB file. */
const EDIT_HEAP_MB = 1024;
/** Characters of text that are returned however small the budget is. */
const MIN_CHARS = 500;

export interface FilesOptions {
  readonly guard: PathGuard;
  readonly journal: boolean;
  readonly journalDays?: number;
  /** Candidates for the journal's directory, in order of preference; by default in the user's state directory. */
  readonly journalDirectories?: readonly string[];
  readonly maxReadChars: number;
  readonly ignored?: readonly string[];
}

/** Operations on files and directories inside the bound, for this server's tools. */
export type Files = ReturnType<typeof openFiles>;

export function openFiles(options: FilesOptions) {
  const {
    guard,
    ignored = [],
    journalDays = 30,
    journalDirectories = stateDirectories("filesystem"),
  } = options;
  const watchers = watchersOf(guard);
  const threads = new ThreadPool(EDIT_HEAP_MB);
  const documents = new Documents(threads);
  const searcher = textSearcher(guard, ignored, documents);
  const journal = new Journal({
    directories: journalDirectories,
    allowed: guard.allowed,
    enabled: options.journal,
    maxDays: journalDays,
  });
  const context: ChangeContext = {
    guard,
    locks: new Locks(),
    journal,
    record: journal.record,
    threads,
    documents,
  };
  const maxReadChars = Math.min(options.maxReadChars, HARD_ANSWER_CHARS - FACTS_CHARS);
  /** An operation with its first argument. */
  const bind =
    <First, Rest extends unknown[], Result>(
      first: First,
      work: (first: First, ...rest: Rest) => Result,
    ) =>
    (...rest: Rest) =>
      work(first, ...rest);

  return {
    guard,
    allowedDirectories: () => guard.allowed.directories(),
    /** Characters of text for a call: its budget, or more if it specifies a range. */
    readChars(budget: number, explicit: boolean): number {
      const usual = Math.max(MIN_CHARS, Math.min(budget, HARD_ANSWER_CHARS) - FACTS_CHARS);
      return explicit ? Math.max(maxReadChars, usual) : usual;
    },
    readText: (path: string, range: ReadTextOptions) => readText(guard, path, range, documents),
    readMany: (paths: readonly string[], { maxChars, ...more }: ReadManyOptions) =>
      readMany(guard, paths, { ...more, maxChars: Math.min(maxChars, maxReadChars) }, documents),
    readMedia: bind(context, readMedia),
    readWhole: bind(guard, readWhole),
    readTail: bind(guard, readTail),
    newestFiles: (request: Parameters<typeof newestFiles>[1]) =>
      newestFiles(guard, request, ignored),
    info: bind(guard, getInfo),
    summarize: bind(context, summarize),
    list: bind(guard, listDirectory),
    tree: (request: TreeRequest) => drawTree(guard, request, ignored),
    searchNames: (request: NameSearch) => searchNames(guard, request, ignored),
    searchText: searcher.search,
    completePath: bind(guard, completePath),
    compare: bind(context, compareFiles),

    write: bind(context, write),
    /** The question to ask the user before `write`; undefined if nothing will be permanently lost. */
    overwriteQuestion: bind(context, overwriteQuestion),
    edit: bind(context, edit),
    editMany: (request: EditManyRequest) => editMany(context, request, ignored),
    createDirectory: bind(context, createDirectory),
    move: bind(context, move),
    copy: bind(context, copy),
    /** Plans moves or copies, and checks them without changing anything. */
    plan: bind(context, plan),
    runPlan: bind(context, runPlan),
    /** The question to ask the user before `runPlan`; undefined if nothing will be permanently lost. */
    planQuestion: bind(context, planQuestion),
    planDelete: bind(context, planDelete),
    delete: bind(context, deletePlanned),

    changes: bind(context, listChanges),
    /** A change to a text file as a unified diff; undefined if unknown. */
    changeDiff: bind(context, diffOfChange),
    undo: bind(context, undo),
    forgetChanges: () => journal.forget(),
    /** Calls `listener` after each change that this server records; returns a function that removes it. */
    onChange: (listener: () => void) => journal.onWrite(listener),
    /** Calls `changed` when a file or an entry of a directory changes; returns a function that stops watching. */
    watch: watchers.watch,

    async close(): Promise<void> {
      await Promise.all([watchers.close(), searcher.close(), threads.close()]);
    },
  };
}
