// A plan of 1,000 moves.
import "./killed-plan.test.ts";
