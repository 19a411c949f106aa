// In both eras of the protocol.
import "./question.test.ts";
