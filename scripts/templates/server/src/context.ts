import { toolFor } from "@refmcp/core";
import type { SampleSource } from "./sample/source.ts";

export const tool = toolFor<SampleSource>();
