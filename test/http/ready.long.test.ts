import "./ready.test.ts";
