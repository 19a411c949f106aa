import { testSecretAttacks } from "./secret-attacks.ts";

testSecretAttacks();
