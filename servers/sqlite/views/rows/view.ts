import { showRows } from "../../../../packages/core/views/rows.ts";

showRows("read_query");
