import "./processes.test.ts";
