import "./compare.test.ts";
