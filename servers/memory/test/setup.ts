import { afterEach } from "vitest";
import { closeAll } from "./session.ts";

// A setup file runs for every test file; a hook in session.ts would be set once, since files share their modules.
afterEach(closeAll);
