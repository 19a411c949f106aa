import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { planned } from "../advice/advise.ts";
import { tried } from "../advice/trial.ts";
import { read } from "../reading/read.ts";
import { RowsIn, RowsOut } from "../transfer/transfer-jobs.ts";
import { change } from "../writing/change.ts";
import { fileAt, openReading, openWriting, type Place } from "./handle.ts";
import { KeptReading } from "./kept-reading.ts";
import type { Job, Progress } from "./protocol.ts";

/** Runs jobs in this process. They block until SQLite is done, which is why each runner is a separate process. */
export class Executor {
  readonly #sqlite: Sqlite;
  readonly #reading: KeptReading;
  #watched: { readonly id: string; readonly database: Database.Database } | undefined;
  #transfer: RowsOut | RowsIn | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
    this.#reading = new KeptReading(sqlite);
  }

  /** @param progress updated with the current statement or line, for errors */
  execute(job: Job, progress: Progress): unknown {
    switch (job.op) {
      case "read":
        return read(this.#reading.open(job.place), job);
      case "look": {
        const database = this.#reading.open(job.place);
        return job.statements.map(({ sql, params }) => {
          try {
            return database.prepare(sql).all(...params);
          } catch (error) {
            if (job.isTolerant) return [];
            throw error;
          }
        });
      }
      case "explain":
        return planned(this.#sqlite, this.#reading.open(job.place), job);
      case "advise":
        return tried(this.#sqlite, this.#reading.open(job.place), job.statements, job.limit);
      case "version":
        return this.#version(job.place);
      case "write": {
        const database = openWriting(this.#sqlite, job.place);
        try {
          return change(database, job, progress);
        } finally {
          database.close();
        }
      }
      // An export or import spans several jobs, and its process ends with it.
      case "open_rows":
        this.#transfer = new RowsOut(openReading(this.#sqlite, job.place), job);
        return true;
      case "open_table":
        this.#transfer = new RowsIn(openWriting(this.#sqlite, job.place), job);
        return true;
      case "next_rows":
        if (this.#transfer instanceof RowsOut) return this.#transfer.next(job.bytes);
        break;
      case "add_rows":
        if (this.#transfer instanceof RowsIn) return this.#transfer.add(job.records, progress);
        break;
      case "measure_table":
        if (this.#transfer instanceof RowsIn) return this.#transfer.measure();
        break;
      case "close_table":
        if (this.#transfer instanceof RowsIn) return this.#transfer.close(job.commit);
    }
    throw new Error(`${job.op} without a transfer`);
  }

  /** A text that changes with every commit of others; data_version is only comparable on the same handle. */
  #version(place: Place): string {
    const { id } = fileAt(place);
    if (this.#watched?.id !== id) {
      this.#watched?.database.close();
      this.#watched = undefined;
      this.#watched = { id, database: openReading(this.#sqlite, place) };
    }
    return `${id}:${String(this.#watched.database.pragma("data_version", { simple: true }))}`;
  }
}
