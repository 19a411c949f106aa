import "./run-test.test.ts";
