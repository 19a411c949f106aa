import { explorePrompt } from "@refmcp/sql/prompt";
import { kind } from "../database/kind.ts";

export default explorePrompt("explore_database", kind);
