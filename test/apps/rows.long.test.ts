import "./rows.test.ts";
