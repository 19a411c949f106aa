// All tests of files.
import "./files.test.ts";
