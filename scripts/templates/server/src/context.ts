import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import type { Notes } from "./notes/notes.ts";

export const tool = toolFor<Notes>();
export const resource = resourceFor<Notes>();
export const prompt = promptFor<Notes>();
