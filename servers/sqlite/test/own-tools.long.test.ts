// All tests of tools from files.
import "./own-tools.test.ts";
