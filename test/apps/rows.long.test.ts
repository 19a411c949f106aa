import { POSTGRES, testRows } from "./rows.ts";

testRows([POSTGRES]);
