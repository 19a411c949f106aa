/**
 * The three tasks of `npm test` here, and the folders of each. turbo.json lists what their tests read, so that a change of a
 * page runs no server again; `structure/tasks.test.ts` checks that. Long tests are one task, whichever folder they are in.
 */
export const TASKS: Readonly<Record<string, readonly string[]>> = {
  documents: ["docs", "plugins", "release", "structure"],
  protocol: ["apps", "first-hour", "protocol", "shell"],
  http: ["http"],
};
