import { mergeConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

// Most tests wait for a process of SQLite's. By default, Vitest uses one worker on two cores.
export default mergeConfig(shared, { test: { maxWorkers: 2 } });
