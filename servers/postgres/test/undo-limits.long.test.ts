// More kills.
import "./undo-limits.test.ts";
