// All changes.
import "./random.test.ts";
