// All tests of resources.
import "./resources.test.ts";
