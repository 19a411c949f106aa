import { showRows } from "../../../../packages/core/views/rows.ts";

showRows("query");
