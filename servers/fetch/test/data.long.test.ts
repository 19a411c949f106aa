// Hostile pages four times as large.
import "./data.test.ts";
