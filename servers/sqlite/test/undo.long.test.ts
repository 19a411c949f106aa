// All changes.
import "./undo.test.ts";
