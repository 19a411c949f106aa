// All tests of processes.
import "./processes.test.ts";
