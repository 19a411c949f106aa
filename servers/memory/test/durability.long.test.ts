// The same writers and kills, ten times as many.
import "./durability.test.ts";
