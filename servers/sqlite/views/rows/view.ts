import { showRows } from "../../../../packages/sql/views/rows.ts";

showRows("read_query");
