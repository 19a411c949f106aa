import "./settled.test.ts";
