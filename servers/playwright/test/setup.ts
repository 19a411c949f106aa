import { afterAll } from "vitest";
import { closeAll } from "./session.ts";

// Everything below it is deleted after the last test.
const { REFMCP_TEST_FOLDER } = process.env;
if (REFMCP_TEST_FOLDER !== undefined) process.env.TMPDIR = REFMCP_TEST_FOLDER;

// A setup file runs for every test file; a hook in session.ts would be set once, since files share their modules.
afterAll(closeAll);

// Files share their process, too: the secrets of one must not mask the texts of the next.
afterAll(() => {
  for (const name of Object.keys(process.env))
    if (name.startsWith("PW_SECRET_")) delete process.env[name];
});
