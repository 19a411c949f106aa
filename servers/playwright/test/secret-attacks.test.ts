import { testSecretAttacks } from "./secret-attacks.ts";

// One for each defense; secret-attacks.long.test.ts makes all.
testSecretAttacks(
  new Set([
    "delete its last letter and read the rest",
    "cut it",
    "drag the text that the page shows",
    "match the length of the text",
    "expect a guess as a step",
    "mock the requests of a guess",
    "reload, and read the field that the browser restored",
    "read it after the page replaced the field",
    "read its letters, one in each element",
    "look at a picture of a page that shows it larger than its element",
    "look at a picture of a page that shows it in a frame",
    "read the fields of one digit each",
    "run code of the model before it is written",
    "read its HAR",
    "export it as a spec",
    "open a session with it",
    "edit the field in the session",
    "read the nearest names where a target is missing",
  ]),
);
