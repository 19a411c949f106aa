import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

/**
 * A database whose tables the server's role owns, and a server that records changes in its own directory.
 *
 * @param setup SQL that the role runs; `admin` is run before it by a superuser
 */
export async function undoing(setup: string, { args = [] as readonly string[], admin = "" } = {}) {
  const state = await mkdtemp(join(tmpdir(), "refmcp-undo-"));
  const world = await lab();
  if (admin !== "") await world.admin(admin.replaceAll("ROLE_NAME", world.role));
  await world.admin(`SET ROLE ${world.role}; ${setup}`);
  const questions: string[] = [];
  /** Another server with the same record. */
  const another = async (...more: readonly string[]) => {
    const server = await talk(["--url", world.url, "--allow-write", "--undo-dir", state, ...more], {
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "accept", content: { confirm: true } };
      },
    });
    onTestFinished(() => server.close());
    return server;
  };
  onTestFinished(async () => {
    await world.dispose();
    await rm(state, { recursive: true, force: true });
  });
  const server = await another(...args);
  /** The rows of tables as text, sorted. */
  const content = async (...tables: readonly string[]) => {
    const texts: Record<string, unknown> = {};
    for (const table of tables) {
      const [first] = await world.admin(
        `SELECT array_agg(r ORDER BY r) AS rows FROM (SELECT t.tableoid::regclass || ' ' || t::text AS r FROM ${table} t) t`,
      );
      texts[table] = first?.rows;
    }
    return texts;
  };
  /** Runs statements as one change. @returns its id */
  const change = async (...statements: readonly string[]) => {
    const { change_id } = await server.data("pg_execute", { statements });
    expect(change_id, statements.join("; ")).toBeDefined();
    return String(change_id);
  };
  const undo = (change_id: string) => server.call("pg_undo_change", { change_id });
  const undone = async (change_id: string, statements: readonly string[]) => {
    const { text, isError } = await undo(change_id);
    expect(isError, `${statements.join("; ")}: ${text}`).toBe(false);
    return String(JSON.parse(text).change_id);
  };
  return {
    world,
    server,
    state,
    questions,
    content,
    change,
    undo,
    another,
    /** Runs statements, undoes them, undoes the undo, and that again: the tables must be as before and as after. */
    async roundTrip(tables: readonly string[], ...statements: readonly string[]) {
      const before = await content(...tables);
      let id = await change(...statements);
      const after = await content(...tables);
      expect(after, statements.join("; ")).not.toEqual(before);
      for (const wanted of [before, after, before]) {
        id = await undone(id, statements);
        expect(await content(...tables), statements.join("; ")).toEqual(wanted);
      }
    },
  };
}
