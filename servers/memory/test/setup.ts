import { afterEach } from "vitest";
import { closeAll } from "./session.ts";

// A setup file runs for every test file; a hook in session.ts would be set only once, because test files share modules.
afterEach(closeAll);
