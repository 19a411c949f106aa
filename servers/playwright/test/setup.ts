import { afterAll } from "vitest";
import { closeAll } from "./session.ts";

// A setup file runs for every test file; a hook in session.ts would be set once, since files share their modules.
afterAll(closeAll);

// Files share their process, too: the secrets of one must not mask the texts of the next.
afterAll(() => {
  for (const name of Object.keys(process.env))
    if (name.startsWith("PW_SECRET_")) delete process.env[name];
});
