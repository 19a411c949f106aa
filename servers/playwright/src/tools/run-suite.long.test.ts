import "./run-suite.test.ts";
