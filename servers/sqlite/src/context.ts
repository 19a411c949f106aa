import { explorePrompt } from "@refmcp/sql/prompt";
import { sqlTools } from "@refmcp/sql/tools";
import { kind } from "./database/kind.ts";

// All that a client sees of this server is made by the package that the SQL servers share.

export const tools = sqlTools(kind);
export const prompts = [explorePrompt("explore_sqlite", kind)];
