// More kills.
import "./undo-crash.test.ts";
