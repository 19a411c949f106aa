import { SQLITE, testRows } from "./rows.ts";

// The view of both servers is the same one.
testRows([SQLITE]);
