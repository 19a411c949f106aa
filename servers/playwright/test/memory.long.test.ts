import { describe } from "vitest";
import { eatAll } from "./eaters.ts";

describe.runIf(process.platform === "linux")("pages that eat all memory", () => eatAll());
