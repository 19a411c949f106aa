import { showRows } from "../../../../packages/sql/views/rows.ts";

showRows("query");
