import type {
  Bound,
  ChangeJob,
  CopyIn,
  CopyOut,
  Database,
  Page,
  Reading,
  RecordedChange,
  Relation,
  Settling,
  Work,
} from "@refmcp/sql";
import { change } from "./change/change.ts";
import { settled, undo } from "./change/undo.ts";
import { readRows } from "./driver/read.ts";
import type { Sessions } from "./driver/sessions.ts";
import { explain } from "./explain/explain.ts";
import { copyIn, copyOut } from "./files/copy.ts";
import { describe, factsOf, relationsIn, writableColumns } from "./schema/describe.ts";
import { withNearNames } from "./schema/near.ts";

/** A PostgreSQL database. */
export class PostgresDatabase implements Database {
  readonly name: string;
  readonly identity: string;
  readonly sessions: Sessions;

  /** @param identity what the record of changes knows it by */
  constructor(name: string, sessions: Sessions, identity: string) {
    this.name = name;
    this.sessions = sessions;
    this.identity = identity;
  }

  /** An error about a missing object gets similar names. */
  #near<Answer>(answer: Promise<Answer>, sql: string, { signal }: Work): Promise<Answer> {
    return withNearNames(answer, this.sessions, sql, { signal });
  }

  read = (question: Reading, page: Page) =>
    this.#near(readRows(this.sessions, question, page), question.sql, question);

  explain = (asked: Bound & Work & { analyze: boolean; budget: number }) =>
    this.#near(explain(this.sessions, asked), asked.sql, asked);

  relations = ({ schema, ...work }: Work & { schema?: string | undefined }) =>
    relationsIn(this.sessions, schema, work);
  facts = (relations: readonly Relation[], work: Work) => factsOf(this.sessions, relations, work);
  describe = (relation: Relation, work: Work) => describe(this.sessions, relation, work);
  columns = (relation: Relation, work: Work) => writableColumns(this.sessions, relation, work);

  change(job: ChangeJob) {
    const sql = job.statements.map((statement) => statement.sql).join(" ");
    return this.#near(change(this.sessions, this.identity, job), sql, job);
  }

  undo = (recorded: RecordedChange, job: Omit<Settling, "agree">) =>
    undo(this.sessions, this.identity, recorded, job);
  settled = (changes: RecordedChange[], work: Work) => settled(this.sessions, changes, work);

  copyOut = (job: CopyOut) => this.#near(copyOut(this.sessions, job), job.sql, job);
  copyIn = (job: CopyIn) => this.#near(copyIn(this.sessions, this.identity, job), "", job);

  async ready(signal: AbortSignal): Promise<void> {
    await this.sessions.rows({ signal }, "SELECT");
  }
}
