import "./run-specs.test.ts";
