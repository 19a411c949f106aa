import { describe } from "vitest";
import { testMemoryPages } from "./memory-pages.ts";

describe.runIf(process.platform === "linux")("pages that use all memory", () => testMemoryPages());
