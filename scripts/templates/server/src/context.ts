import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import type { SampleSource } from "./sample/source.ts";

export const tool = toolFor<SampleSource>();
export const resource = resourceFor<SampleSource>();
export const prompt = promptFor<SampleSource>();
