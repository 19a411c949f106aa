// All rows of the matrices.
import "./masks.test.ts";
