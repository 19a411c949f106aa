// All statements.
import "./rehearse.test.ts";
