// All tests of runners.
import "./runners.test.ts";
