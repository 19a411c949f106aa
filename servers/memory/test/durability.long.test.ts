// The same writers and kills, five times as many.
import "./durability.test.ts";
